import { test } from 'vitest';
import { openTestStore } from '../stores.ts';
import { fitAny } from './fit-any.ts';

test('1,000 prompts fit untouched where they may not be touched, or are refused by name', async () => {
  await fitAny(await openTestStore('embedded'), 1_000);
});
