import { expect } from 'vitest';
import { simulate } from './simulator.ts';

/** What random runs must have met together, lest a rule be never tried. */
const MUST_MEET = [
  'child_failed',
  'quorum_missed',
  'prerequisite_failed',
  'parent_ended',
  'parent_finished',
  'session_cancelled',
  'stale',
  'completed → superseded',
  'failed → waiting_for_prerequisite',
  'cancelled → waiting_for_children',
  'pending_continuation → processing',
  'processing → pending_next_step',
  'waiting_for_children → completed',
  'waiting_for_lanes → pending_next_step',
];

/** Runs many seeds; the first broken rule ends it, with the seed that shows it. */
export function runCampaign(firstSeed: number, runs: number): { jobs: number; steps: number } {
  const met = new Set<string>();
  let jobs = 0;
  let steps = 0;
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const run = simulate(seed);
    jobs += run.world.jobs.size;
    steps += run.history.length;
    for (const what of run.seen.keys()) met.add(what);
  }
  expect(MUST_MEET.filter((what) => !met.has(what))).toEqual([]);
  return { jobs, steps };
}
