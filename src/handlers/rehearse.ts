import { rehearseStep } from '../generation/rehearse-step.ts';
import { nextTurn, sleep } from '../platform/clock.ts';
import { activeSteps } from '../recipe/edges.ts';
import type { Process } from '../recipe/types.ts';
import { onceFor } from '../text/memo.ts';

/** An answer that is there sooner leaves no time, and the requests of a wave go first. */
const LEAST_WAIT_MS = 40;

/** The steps of a process, each rehearsed when the next is asked for. */
const rehearsals = onceFor(function* rehearse(process: Process): Generator<void> {
  for (const stage of process.stages) {
    for (const step of activeSteps(stage)) {
      yield rehearseStep(process, stage, step);
    }
  }
});
const rehearsed = new WeakSet<Process>();

/**
 * Uses the time in which a model answers to make ready what later steps of the process need, a step in
 * each turn: else it stands between the answer before a step's first request and that request.
 */
export async function rehearseMeanwhile(
  process: Process,
  answering: Promise<unknown>,
): Promise<void> {
  if (rehearsed.has(process)) return;
  const answered = new AbortController();
  const end = (): void => answered.abort();
  answering.then(end, end);
  await sleep(LEAST_WAIT_MS, answered.signal);
  while (!answered.signal.aborted) {
    if (rehearsals(process).next().done) {
      rehearsed.add(process);
      return;
    }
    await nextTurn();
  }
}
