import type { Decision } from './programs.ts';
import type { Chance } from './random.ts';
import type { Execution } from './world.ts';

/** A simulated process. Its clock is its own and wrong; only the database's clock counts. */
export type SimWorker = {
  readonly id: string;
  readonly slots: number;
  skewMs: number;
  beatAt: number;
  frozen: boolean;
};

/** A claim that its worker has not yet finished, and what it has decided to do. */
export type Task = {
  readonly number: number;
  readonly execution: Execution;
  readonly worker: SimWorker;
  decision: Decision | undefined;
};

const HOUR_MS = 3_600_000;
const BEAT_EVERY_MS = 10_000;

export const drawSkew = (chance: Chance): number => chance.between(-HOUR_MS, HOUR_MS);

/** A new process, up to an hour off. */
export function hire(chance: Chance, id: string, now: number): SimWorker {
  const skewMs = drawSkew(chance);
  return { id, slots: chance.between(1, 6), skewMs, beatAt: now + skewMs, frozen: false };
}

/** Whether the worker thinks, by its own clock, that it must extend its leases now. */
export function feelsDue(worker: SimWorker, now: number): boolean {
  const local = now + worker.skewMs;
  if (worker.frozen || local - worker.beatAt < BEAT_EVERY_MS) return false;
  worker.beatAt = local;
  return true;
}
