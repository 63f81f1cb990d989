import { test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { outliveZombies } from './zombies.ts';

test('200 stopped workers that wake after their leases change nothing', async () => {
  await outliveZombies(await emptyStore('server'), 200);
});
