import { test } from 'vitest';
import { openTestStore } from '../stores.ts';
import { fitAny } from './fit-any.ts';

test('any prompt fits untouched where it may not be touched, or is refused by name', async () => {
  await fitAny(await openTestStore('server'), 60, 1);
}, 60_000);
