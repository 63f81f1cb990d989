import { newTenant, openTestStore, type StoreKind } from '../stores.ts';
import { replay } from './replay.ts';
import { simulate } from './simulator.ts';
import { START } from './world.ts';

/** Replays one history for each seed on a store of its own; returns how many steps it compared. */
export async function replayCampaign(
  kind: StoreKind,
  firstSeed: number,
  runs: number,
): Promise<number> {
  const clock = { now: START };
  const database = await openTestStore(kind, { clock: () => new Date(clock.now) });
  const { tenantId } = await newTenant(database);
  let steps = 0;
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const simulated = simulate(seed, { mostJobs: 60 });
    await replay({ database, tenantId, clock }, simulated);
    steps += simulated.history.length;
  }
  return steps;
}
