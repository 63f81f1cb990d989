import { test } from 'vitest';
import { openTestStore } from '../stores.ts';
import { fitAny } from './fit-any.ts';

test('5,000 prompts fit untouched where they may not be touched, or are refused by name', async () => {
  await fitAny(await openTestStore('server'), 5_000);
});
