import { DialecticError } from '../errors/errors.ts';
import { mostReruns, NO_RERUN, nextLane } from '../generation/rerun.ts';
import type { Job } from '../jobs/types.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { type Judged, judge } from './judge.ts';
import type { Loaded } from './load.ts';
import { findOtherEvidence } from './other-evidence.ts';

/**
 * Decides how a document is asked for whose writer does not mend its citations: of the next
 * participant, or with other evidence. Where there is neither, the document is kept and marked. It
 * is decided before the answer is saved, so that a job that is run again asks for the same.
 */
export async function arrangeRerun(
  deps: Pick<HandlerDeps, 'database' | 'embedder'>,
  { tenantId }: Pick<Job, 'tenantId'>,
  judged: Judged,
): Promise<Judged> {
  const { verdict, step } = judged;
  if (verdict.kind !== 'mend' || verdict.unsupported === undefined) return judged;
  const before = judged.standing.rerun ?? NO_RERUN;
  if (step.onUnsupported === 'other_lane') {
    const lane = nextLane(judged, before);
    if (lane) return { ...judged, rerun: { ...before, lanes: [...before.lanes, lane.id] } };
  } else {
    const rerun = await findOtherEvidence(deps, tenantId, judged, verdict.unsupported);
    if (rerun) return { ...judged, rerun };
  }
  return judge(judged, { most: 0 });
}

/** What a participant's provider refuses for good; the session can go on without its answer. */
const REFUSALS = ['context_window_exceeded', 'price_unknown', 'model_unknown'];

/** Whether a request for other citations failed for good, so that the document stands as it is. */
export const canDoWithout = (loaded: Loaded, error: unknown): boolean =>
  loaded.standing.rerun !== null &&
  mostReruns(loaded) > 0 &&
  error instanceof DialecticError &&
  !error.retryable &&
  (REFUSALS.includes(error.code) || error.code.startsWith('provider_'));
