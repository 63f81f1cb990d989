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
import { toLaneStates } from '../session/lane-states.ts';
import { readFailedJobs, readLosses } from '../session/losses.ts';
import { laneOf, readSession, type SessionView } from '../session/read.ts';
import { readStageLanes, readStagePayload } from '../session/stages.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { jobDocument } from './job-document.ts';
import { type PlanEntry, planAhead } from './plan-ahead.ts';
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
    const entries = planWave(job, view, request, readiness.ready);
    const children = entries.map((entry) => childOf(view.session, job, entry));
    const { waiting, waitingForLanes, blocked } = readiness;
    const planned = new Set(entries.map((entry) => entry.planned.step));
    const thenEnd = [...waiting, ...waitingForLanes, ...blocked].every((key) => planned.has(key));
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

type ReadyRequest = Parameters<typeof findReadySteps>[0];

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

/** The jobs of the steps that are ready, and those of later steps that only wait for them. */
function planWave(
  job: Job,
  view: LaneView,
  request: ReadyRequest,
  ready: readonly string[],
): PlanEntry[] {
  const plan = (stepKey: string, beside: readonly SourceDocument[]) =>
    planJobs(job, { ...view, documents: [...view.documents, ...beside] }, stepKey);
  const first = ready.flatMap((stepKey) =>
    plan(stepKey, []).map((planned) => ({ id: newId(), planned })),
  );
  const { laneId, states } = request;
  return planAhead(first, {
    stage: stageOf(view.session.process, request.stageKey),
    plan,
    lookAfter: (planned) => {
      const own = { ...states[laneId], ...planned };
      return findReadySteps({ ...request, states: { ...states, [laneId]: own } });
    },
  });
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
  { id, planned, awaits, prerequisiteId }: PlanEntry,
): ChildJob {
  const step = stepOf(stageOf(session.process, planned.stage), planned.step);
  const [provider = ''] = laneOf(session, job.laneId).model.split('/');
  const document = jobDocument(planned);
  // A lineage that begins with what the job awaits has no name yet.
  const isOpen = awaits?.some((one) => document.sourceGroup === one.contributionId) ?? false;
  const payload: ExecutePayload = { planned, ...(awaits && { awaits }) };
  return {
    id,
    ...(prerequisiteId !== undefined && { prerequisiteId }),
    type: 'EXECUTE',
    stepKey: planned.step,
    policy: step.dependencyPolicy,
    quorum: step.quorum,
    concurrencyKey: providerKey(provider),
    inputDigest: digestInputs(planned),
    idempotencyKey: `${session.id}/${planned.identity}`,
    document: isOpen ? { ...document, sourceGroup: null } : document,
    payload,
  };
}

/** What a job was given, so that a change of it shows. */
const digestInputs = (planned: PlannedJob): string =>
  hash('sha256', canonicalJson(planned.inputs), 'hex');
