import { test } from 'vitest';
import { LONG_PAGES, runPage } from './docs-pages.ts';

test.each(LONG_PAGES)('the commands of %s run as they are written', runPage);
