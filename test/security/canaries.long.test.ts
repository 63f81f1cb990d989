import { test } from 'vitest';
import { failWithoutTrace } from './failing-calls.ts';

test('200 failing calls leave no trace of a key in store, log, export and terminal', async () => {
  await failWithoutTrace(200);
});
