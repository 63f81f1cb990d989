import { test } from 'vitest';
import { registerAtOnce } from './processes.ts';

test('two processes that register at once share dense ids', () => registerAtOnce(2, 100), 60_000);
