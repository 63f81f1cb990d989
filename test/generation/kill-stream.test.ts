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
