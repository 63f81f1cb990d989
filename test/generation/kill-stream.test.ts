import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { killStreams } from './kill-stream.ts';

test('2 kills in the middle of streaming lose and repeat nothing of any document', async () => {
  const place = await emptyStore('embedded');
  const plan = { documents: 3, chars: 30_000, kills: 2, concurrency: 2, seed: 1 };
  const measured = await killStreams(place, plan);
  console.log(measured);
  expect(measured.extra).toBeGreaterThan(0);
});

test('a kill of a long answer that took long to begin loses what came last alone', async () => {
  const place = await emptyStore('embedded');
  const plan = { documents: 1, chars: 60_000, kills: 1, concurrency: 1, seed: 2 };
  const measured = await killStreams(place, { ...plan, firstMs: 1_500, streamsMs: 3_000 });
  console.log(measured);
  expect(measured.extra).toBe(1);
});
