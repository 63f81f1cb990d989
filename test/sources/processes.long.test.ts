import { test } from 'vitest';
import { registerAtOnce } from './processes.ts';

test('four processes that register at once share dense ids', () => registerAtOnce(4, 5_000));
