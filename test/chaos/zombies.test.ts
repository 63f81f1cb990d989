import { test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { outliveZombies } from './zombies.ts';

test('2 stopped workers that wake after their leases change nothing', async () => {
  await outliveZombies(await emptyStore('server'), 2);
});
