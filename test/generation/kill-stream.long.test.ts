import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { killStreams } from './kill-stream.ts';

test('50 kills in the middle of streaming lose and repeat nothing of any document', async () => {
  const place = await emptyStore('embedded');
  const plan = { documents: 12, chars: 120_000, kills: 50, concurrency: 3, seed: 5 };
  const measured = await killStreams(place, plan);
  console.log(measured);
  expect(measured.kills).toBe(50);
});

test('10 kills of long answers that took long to begin lose what came last alone', async () => {
  const place = await emptyStore('embedded');
  const plan = { documents: 6, chars: 250_000, kills: 10, concurrency: 3, seed: 6 };
  const measured = await killStreams(place, { ...plan, firstMs: 1_500, streamsMs: 3_000 });
  console.log(measured);
  expect(measured.kills).toBe(10);
});
