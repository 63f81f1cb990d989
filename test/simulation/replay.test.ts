import { expect, test } from 'vitest';
import { newTenant, openTestStore } from '../stores.ts';
import { replay } from './replay.ts';
import { simulate } from './simulator.ts';
import { START } from './world.ts';

test('40 random histories give the same states on the real SQL after every operation', async () => {
  const clock = { now: START };
  const database = await openTestStore('embedded', { clock: () => new Date(clock.now) });
  const { tenantId } = await newTenant(database);
  let steps = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const simulated = simulate(seed, { mostJobs: 60 });
    await replay({ database, tenantId, clock }, simulated);
    steps += simulated.history.length;
  }
  console.log(`${steps} operations compared`);
  expect(steps).toBeGreaterThan(1_000);
});
