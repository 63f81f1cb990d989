import type { Database } from '../db/database.ts';
import { addNotice } from '../db/notices.ts';
import { DialecticError } from '../errors/errors.ts';
import type { JobContext } from '../jobs/context.ts';
import { closeStage } from '../session/advance.ts';
import { readFailedJobs, readLosses } from '../session/losses.ts';
import { degradedNotice } from '../session/missing-text.ts';
import { readSession } from '../session/read.ts';
import { type AtOnce, planLaneRoots, readStageLanes, readStagePayload } from '../session/stages.ts';
import { countNoun } from '../text/count-noun.ts';
import { planStart } from './plan-wave.ts';

/**
 * The PLAN job of a stage waits for its lanes; woken when all of them are over, it closes the stage.
 * Where it has none yet, it starts them.
 */
export async function planStage(database: Database, { job, commit }: JobContext): Promise<void> {
  const { stage, iteration } = readStagePayload(job);
  const pass = { id: job.sessionId, iteration };
  const reads = database.readsOf(job.tenantId);
  // Given before any of them is awaited, the statements take one round trip.
  const [session, stageLanes, failed, roots] = await Promise.all([
    readSession(reads, job.sessionId),
    readStageLanes(reads, pass),
    readFailedJobs(reads, pass),
    reads.query<{ lane_id: string; status: string }>(
      'select lane_id, status from jobs where parent_job_id = $1 and counts',
      [job.id],
      'read-lane-roots',
    ),
  ]);
  const { losses, excused } = await readLosses(reads, session, stageLanes, failed);
  if (roots.length === 0) {
    return commit({ children: planLaneRoots(session, stage), next: { waitFor: 'children' } });
  }
  const lost = roots.filter((root) => root.status !== 'completed');
  if (lost.some((root) => !excused[stage]?.includes(root.lane_id))) {
    throw new DialecticError(
      'stage_incomplete',
      `${lost.length} of ${countNoun(roots.length, 'participant')} failed in stage ${stage}.`,
      { details: { stage, lost: lost.length, lanes: roots.length } },
    );
  }
  const own = losses.filter((loss) => loss.stage === stage);
  let close: AtOnce | undefined;
  return commit({
    write: async (tx) => {
      if (own.length > 0) await addNotice(tx, degradedNotice(session, stage, own));
      close = await closeStage(tx, session, stage, Object.keys(stageLanes), planStart);
    },
    writeAtOnce: async () => close?.(),
  });
}
