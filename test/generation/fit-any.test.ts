import { test } from 'vitest';
import { openTestStore } from '../stores.ts';
import { fitAny } from './fit-any.ts';

test('any prompt fits untouched where it may not be touched, or is refused by name', async () => {
  await fitAny(await openTestStore('embedded'), 60);
}, 60_000);
