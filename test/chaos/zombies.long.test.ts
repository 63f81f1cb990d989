import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { outliveZombies } from './zombies.ts';

test('200 stopped workers that wake after their leases change nothing', async () => {
  expect(await outliveZombies(await emptyStore('server'), 1_200)).toBeGreaterThanOrEqual(200);
});
