import { hash } from 'node:crypto';
import type { Database } from '../db/database.ts';
import type { TenantQueries } from '../db/transaction.ts';
import { readSources } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import type { ExecutePayload } from '../generation/chain.ts';
import type { ChildJob, JobContext } from '../jobs/context.ts';
import { readStanding } from '../jobs/lanes.ts';
import type { Job } from '../jobs/types.ts';
import { planStep } from '../planning/plan-step.ts';
import { findReadySteps } from '../planning/ready.ts';
import type { Loss, PlannedJob, SourceDocument } from '../planning/types.ts';
import { newId } from '../platform/ids.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import { isCombining } from '../recipe/expand-combine.ts';
import { toLaneStates } from '../session/lane-states.ts';
import { readFailedJobs, readLosses } from '../session/losses.ts';
import { laneOf, readSession, type SessionView } from '../session/read.ts';
import { readStageLanes, readStagePayload } from '../session/stages.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { awaitDocument, findAwaited, payloadFor } from './await-document.ts';
import { jobDocument } from './job-document.ts';
import { providerKey } from './provider-limits.ts';

/** The PLAN job of a lane plans the steps that can run now; it waits for other lanes if it must. */
export async function planLane(database: Database, { job, commit }: JobContext): Promise<void> {
  const { stageRunId, laneId } = placeOf(job);
  const reads = database.readsOf(job.tenantId);
  const { stage: stageKey, iteration } = readStagePayload(job);
  const pass = { id: job.sessionId, iteration };
  // Given before any of them is awaited, the statements take one round trip.
  const [session, standing, documents, stageLanes, labelSeed, failed] = await Promise.all([
    readSession(reads, job.sessionId),
    readStanding(reads, stageRunId),
    readSources(reads, job.sessionId),
    readStageLanes(reads, pass),
    readLabelSeed(reads, job.sessionId),
    readFailedJobs(reads, pass),
  ]);
  const losses = await readLosses(reads, session, stageLanes, failed);
  const view = { session, stageLanes, ...losses, documents, labelSeed };
  const request = {
    process: session.process,
    stageKey,
    laneId,
    laneIds: stageLanes[stageKey] ?? [],
    states: toLaneStates(session.process, stageKey, standing),
    excused: view.excused[stageKey] ?? [],
  };
  const readiness = findReadySteps(request);
  if (readiness.ready.length > 0) {
    const children = planWave(job, view, request, readiness.ready);
    const { waiting, waitingForLanes, blocked } = readiness;
    const thenEnd = [...waiting, ...waitingForLanes, ...blocked].length === 0;
    return commit({ children, next: { waitFor: 'children', thenEnd } });
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
async function readLabelSeed(tx: TenantQueries, sessionId: string): Promise<string> {
  const { seed } = await tx.queryOne<{ seed: string }>(
    `select p.brief_hash as seed from sessions s
     join projects p on p.tenant_id = s.tenant_id and p.id = s.project_id where s.id = $1`,
    [sessionId],
    'read-label-seed',
  );
  return seed;
}

/**
 * The jobs of the steps that are ready. A step that only waits for what one of them combines is
 * planned with it, as a job that has the combining one as its prerequisite.
 */
function planWave(
  job: Job,
  view: LaneView,
  request: Parameters<typeof findReadySteps>[0],
  ready: readonly string[],
): ChildJob[] {
  const stage = stageOf(view.session.process, request.stageKey);
  const first = ready.flatMap((stepKey) =>
    planJobs(job, view, stepKey).map((planned) => ({ id: newId(), stepKey, planned })),
  );
  const children = first.map(({ id, planned }) => ({
    ...childOf(view.session, job, planned, { planned }),
    id,
  }));
  const awaited = first
    .filter(({ stepKey }) => isCombining(stepOf(stage, stepKey)))
    .map(({ id, planned }) => awaitDocument(id, planned));
  if (awaited.length === 0) return children;
  const own = Object.fromEntries(
    ready.map((key) => [key, isCombining(stepOf(stage, key)) ? 'done' : 'planned'] as const),
  );
  const states = {
    ...request.states,
    [request.laneId]: { ...request.states[request.laneId], ...own },
  };
  const readers = findReadySteps({ ...request, states }).ready.flatMap((stepKey) => {
    const one = findAwaited(stage, stepKey, awaited);
    if (one === undefined) return [];
    const documents = [...view.documents, one.document];
    return planJobs(job, { ...view, documents }, stepKey).map((planned) => ({
      ...childOf(view.session, job, planned, payloadFor(planned, one)),
      prerequisiteId: one.jobId,
    }));
  });
  return [...children, ...readers];
}

function planJobs(job: Job, view: LaneView, stepKey: string): readonly PlannedJob[] {
  const { session, stageLanes, documents, labelSeed, losses } = view;
  const { stage: stageKey } = readStagePayload(job);
  const lane = laneOf(session, job.laneId);
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
  return jobs;
}

function childOf(
  session: SessionView,
  job: Job,
  planned: PlannedJob,
  payload: ExecutePayload,
): ChildJob {
  const step = stepOf(stageOf(session.process, planned.stage), planned.step);
  const [provider = ''] = laneOf(session, job.laneId).model.split('/');
  const document = jobDocument(planned);
  // A lineage that begins with what the job awaits has no name yet.
  const isOpen = document.sourceGroup === payload.awaits?.contributionId;
  return {
    type: 'EXECUTE',
    stepKey: planned.step,
    policy: step.dependencyPolicy,
    quorum: step.quorum,
    concurrencyKey: providerKey(provider),
    inputDigest: digestInputs(planned),
    idempotencyKey: `${session.id}/${planned.identity}`,
    document: isOpen ? { ...document, sourceGroup: null } : document,
    payload: { ...payload },
  };
}

/** What a job was given, so that a change of it shows. */
const digestInputs = (planned: PlannedJob): string =>
  hash('sha256', canonicalJson(planned.inputs), 'hex');
