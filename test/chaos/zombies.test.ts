import { test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { outliveZombies } from './zombies.ts';

test('a worker that wakes after its lease changes nothing', async () => {
  await outliveZombies(await emptyStore('server'), 12);
}, 120_000);
