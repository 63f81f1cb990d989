import { hash } from 'node:crypto';
import type { Database, Transaction } from '../db/database.ts';
import { readSources } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import type { ChildJob, JobContext } from '../jobs/context.ts';
import { readStanding } from '../jobs/lanes.ts';
import type { Job } from '../jobs/types.ts';
import { planStep } from '../planning/plan-step.ts';
import { findReadySteps } from '../planning/ready.ts';
import type { Loss, PlannedJob, SourceDocument } from '../planning/types.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import { toLaneStates } from '../session/lane-states.ts';
import { readLosses } from '../session/losses.ts';
import { laneOf, readSession, type SessionView } from '../session/read.ts';
import { readStageLanes, readStagePayload } from '../session/stages.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { jobDocument } from './job-document.ts';
import { providerKey } from './provider-limits.ts';

/** The PLAN job of a lane plans the steps that can run now; it waits for other lanes if it must. */
export async function planLane(database: Database, { job, commit }: JobContext): Promise<void> {
  const { stageRunId, laneId } = placeOf(job);
  const view = await database.asTenant(job.tenantId, async (tx) => {
    const [session, standing, documents] = await Promise.all([
      readSession(tx, job.sessionId),
      readStanding(tx, stageRunId),
      readSources(tx, job.sessionId),
    ]);
    const [stageLanes, labelSeed] = await Promise.all([
      readStageLanes(tx, session),
      readLabelSeed(tx, session),
    ]);
    const losses = await readLosses(tx, session, stageLanes);
    return { session, standing, stageLanes, ...losses, documents, labelSeed };
  });
  const { session, standing, stageLanes } = view;
  const { stage: stageKey } = readStagePayload(job);
  const readiness = findReadySteps({
    process: session.process,
    stageKey,
    laneId,
    laneIds: stageLanes[stageKey] ?? [],
    states: toLaneStates(session.process, stageKey, standing),
    excused: view.excused[stageKey] ?? [],
  });
  if (readiness.ready.length > 0) {
    const children = readiness.ready.flatMap((stepKey) => planJobs(job, view, stepKey));
    return commit({ children, next: { waitFor: 'children' } });
  }
  if (readiness.waitingForLanes.length > 0) {
    return commit({ next: { waitFor: 'lanes', version: standing.version } });
  }
  const stuck = [...readiness.blocked, ...readiness.waiting];
  if (stuck.length > 0) {
    throw new DialecticError(
      'lane_blocked',
      `Steps of stage ${stageKey} cannot run because what they need has failed: ${stuck.join(', ')}.`,
      { details: { stage: stageKey, steps: stuck } },
    );
  }
}

/** Where the root of a lane belongs: it was inserted with both. */
function placeOf({ id, stageRunId, laneId }: Job) {
  if (stageRunId !== null && laneId !== null) return { stageRunId, laneId };
  throw new DialecticError('internal_error', `Job ${id} plans a lane and has none.`);
}

type LaneView = {
  readonly session: SessionView;
  readonly stageLanes: Readonly<Record<string, readonly string[]>>;
  readonly documents: readonly SourceDocument[];
  readonly labelSeed: string;
  readonly losses: readonly Loss[];
};

/** The brief's hash: labels on ballots are the same in every run of one brief. */
async function readLabelSeed(tx: Transaction, session: SessionView): Promise<string> {
  const { seed } = await tx.queryOne<{ seed: string }>(
    'select brief_hash as seed from projects where id = $1',
    [session.projectId],
  );
  return seed;
}

function planJobs(job: Job, view: LaneView, stepKey: string): ChildJob[] {
  const { session, stageLanes, documents, labelSeed, losses } = view;
  const { stage: stageKey } = readStagePayload(job);
  const lane = laneOf(session, job.laneId);
  const [provider = ''] = lane.model.split('/');
  const { jobs } = planStep({
    process: session.process,
    stageKey,
    stepKey,
    lane,
    lanes: session.lanes,
    stageLanes,
    iteration: session.iteration,
    labelSeed,
    documents,
    losses,
  });
  const step = stepOf(stageOf(session.process, stageKey), stepKey);
  return jobs.map((planned) => ({
    type: 'EXECUTE',
    stepKey,
    policy: step.dependencyPolicy,
    quorum: step.quorum,
    concurrencyKey: providerKey(provider),
    inputDigest: digestInputs(planned),
    idempotencyKey: `${session.id}/${planned.identity}`,
    document: jobDocument(planned),
    payload: { planned },
  }));
}

/** What a job was given, so that a change of it shows. */
const digestInputs = (planned: PlannedJob): string =>
  hash('sha256', canonicalJson(planned.inputs), 'hex');
