import { test } from 'vitest';
import { readBesideWriters } from './event-readers.ts';

test('a reader beside 4 writers misses none of 100,000 events and keeps order', async () => {
  await readBesideWriters(4, 100_000);
});
