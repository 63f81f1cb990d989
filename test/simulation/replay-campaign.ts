import { newTenant, openTestStore, type StoreKind } from '../stores.ts';
import { replay } from './replay.ts';
import { type Simulated, simulate } from './simulator.ts';
import { START } from './world.ts';

const simulateMany = (firstSeed: number, runs: number): Simulated[] =>
  Array.from({ length: runs }, (_, n) => simulate(firstSeed + n, { mostJobs: 60 }));

/** Of many runs those few that together show the most, shorter ones first. */
export function pickVaried(firstSeed: number, among: number, runs: number): Simulated[] {
  const left = new Set(simulateMany(firstSeed, among));
  const seen = new Set<string>();
  const picked: Simulated[] = [];
  while (picked.length < runs) {
    let best: { run: Simulated; worth: number } | undefined;
    for (const run of left) {
      const fresh = [...run.seen.keys()].filter((what) => !seen.has(what)).length;
      const worth = (fresh + 0.1) / (run.history.length + 30);
      if (!best || worth > best.worth) best = { run, worth };
    }
    left.delete(best!.run);
    picked.push(best!.run);
    for (const what of best!.run.seen.keys()) seen.add(what);
  }
  return picked;
}

/** Replays histories on a store of their own; returns how many steps were compared. */
export async function replayAll(kind: StoreKind, runs: Iterable<Simulated>): Promise<number> {
  const clock = { now: START };
  const database = await openTestStore(kind, { clock: () => new Date(clock.now) });
  const { tenantId } = await newTenant(database);
  let steps = 0;
  for (const simulated of runs) {
    await replay({ database, tenantId, clock }, simulated);
    steps += simulated.history.length;
  }
  return steps;
}

/** One history for each seed, made when it is its turn. */
export function* histories(firstSeed: number, runs: number): Generator<Simulated> {
  for (let n = 0; n < runs; n++) yield* simulateMany(firstSeed + n, 1);
}
