import { hash } from 'node:crypto';
import type { Database, Transaction } from '../db/database.ts';
import { addNotice } from '../db/notices.ts';
import { readSources } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import type { ChildJob, JobContext, JobHandler } from '../jobs/context.ts';
import { readStanding } from '../jobs/lanes.ts';
import type { Job } from '../jobs/types.ts';
import { planStep } from '../planning/plan-step.ts';
import { findReadySteps } from '../planning/ready.ts';
import type { Loss, PlannedJob, SourceDocument } from '../planning/types.ts';
import { closeStage } from '../session/advance.ts';
import { toLaneStates } from '../session/lane-states.ts';
import { readLosses } from '../session/losses.ts';
import { degradedNotice } from '../session/missing-text.ts';
import { readSession, type SessionView } from '../session/read.ts';
import { planLaneRoots, readStageLanes, type StagePayload } from '../session/stages.ts';
import { canonicalJson } from '../text/canonical-json.ts';

/** PLAN jobs: one stands for a stage, one for each lane in it. Steps become EXECUTE jobs. */
export function createPlanHandler(database: Database): JobHandler {
  return (context) =>
    context.job.role === 'stage' ? planStage(database, context) : planLane(database, context);
}

/** Starts the lanes; woken again when all of them are over, it closes the stage. */
async function planStage(database: Database, { job, commit }: JobContext): Promise<void> {
  const { stage } = job.payload as StagePayload;
  const { session, roots, losses, excused } = await database.asTenant(job.tenantId, async (tx) => {
    const session = await readSession(tx, job.sessionId);
    const roots = await tx.query<{ lane_id: string; status: string }>(
      'select lane_id, status from jobs where parent_job_id = $1 and counts',
      [job.id],
    );
    const stageLanes = await readStageLanes(tx, session);
    return { session, roots, ...(await readLosses(tx, session, stageLanes)) };
  });
  if (roots.length === 0) {
    return commit({ children: planLaneRoots(session, stage), next: { waitFor: 'children' } });
  }
  const lost = roots.filter((root) => root.status !== 'completed');
  if (lost.some((root) => !excused[stage]?.includes(root.lane_id))) {
    throw new DialecticError(
      'stage_incomplete',
      `${lost.length} of ${roots.length} participants failed in stage ${stage}.`,
      { details: { stage, lost: lost.length, lanes: roots.length } },
    );
  }
  const own = losses.filter((loss) => loss.stage === stage);
  return commit({
    write: async (tx) => {
      if (own.length > 0) await addNotice(tx, degradedNotice(session, stage, own));
      await closeStage(tx, session, stage);
    },
  });
}

/** Plans the steps of a lane that can run now; waits for other lanes where it must. */
async function planLane(database: Database, { job, commit }: JobContext): Promise<void> {
  const view = await database.asTenant(job.tenantId, async (tx) => {
    const session = await readSession(tx, job.sessionId);
    const stageLanes = await readStageLanes(tx, session);
    return {
      session,
      standing: await readStanding(tx, job.stageRunId!),
      stageLanes,
      ...(await readLosses(tx, session, stageLanes)),
      documents: await readSources(tx, job.sessionId),
      labelSeed: await readLabelSeed(tx, session),
    };
  });
  const { session, standing, stageLanes } = view;
  const { stage: stageKey } = job.payload as StagePayload;
  const readiness = findReadySteps({
    process: session.process,
    stageKey,
    laneId: job.laneId!,
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

type LaneView = {
  readonly session: SessionView;
  readonly stageLanes: Readonly<Record<string, readonly string[]>>;
  readonly documents: readonly SourceDocument[];
  readonly labelSeed: string;
  readonly losses: readonly Loss[];
};

/** The brief's hash: labels on ballots are the same in every run of one brief. */
async function readLabelSeed(tx: Transaction, session: SessionView): Promise<string> {
  const [row] = await tx.query<{ seed: string }>(
    'select brief_hash as seed from projects where id = $1',
    [session.projectId],
  );
  return row!.seed;
}

function planJobs(job: Job, view: LaneView, stepKey: string): ChildJob[] {
  const { session, stageLanes, documents, labelSeed, losses } = view;
  const { stage: stageKey } = job.payload as StagePayload;
  const lane = session.lanes.find((one) => one.id === job.laneId)!;
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
  const stage = session.process.stages.find((one) => one.key === stageKey)!;
  const step = stage.steps.find((one) => one.key === stepKey)!;
  return jobs.map((planned) => ({
    type: 'EXECUTE',
    stepKey,
    policy: step.dependencyPolicy,
    quorum: step.quorum,
    concurrencyKey: providerKey(lane.model.split('/')[0]!),
    inputDigest: digestInputs(planned),
    idempotencyKey: `${session.id}/${planned.identity}`,
    payload: { planned },
  }));
}

/** The concurrency key of the jobs that call a provider. */
export const providerKey = (provider: string): string => `provider/${provider}`;

/** What a job was given, so that a change of it shows. */
const digestInputs = (planned: PlannedJob): string =>
  hash('sha256', canonicalJson(planned.inputs), 'hex');
