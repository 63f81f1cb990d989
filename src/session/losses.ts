import type { TenantQueries } from '../db/transaction.ts';
import { readStanding } from '../jobs/lanes.ts';
import type { JobError } from '../jobs/types.ts';
import { excuseLanes, type LostLane } from '../planning/excuse-lanes.ts';
import type { Loss } from '../planning/types.ts';
import { activeSteps, stageOf } from '../recipe/edges.ts';
import { toLaneStates } from './lane-states.ts';
import type { Pass, SessionView } from './read.ts';

/** What the current pass goes on without. */
export type Losses = {
  readonly losses: readonly Loss[];
  /** By stage: failed lanes without which it went on. */
  readonly excused: Readonly<Record<string, readonly string[]>>;
};

type FailedJob = {
  readonly stage_key: string;
  readonly stage_run_id: string;
  readonly lane_id: string;
  /** Null for a lane's root. */
  readonly step_key: string | null;
  readonly status: 'failed' | 'cancelled';
  readonly error: JobError | null;
  /** For a root: the status of the stage's own job. */
  readonly parent_status: string;
  readonly document_key: string | null;
  readonly source_group: string | null;
};

type StageLanes = Readonly<Record<string, readonly string[]>>;

/** Codes that only say that something else failed. */
const CONSEQUENCES = ['child_failed', 'quorum_missed', 'prerequisite_failed'];

/** Reads what failed in the current pass and was borne, by a policy or by the run's own leave. */
export async function readLosses(
  tx: TenantQueries,
  session: SessionView,
  stageLanes: StageLanes,
  failed: readonly FailedJob[],
): Promise<Losses> {
  const losses: Loss[] = [];
  const excused: Record<string, readonly string[]> = {};
  const byStage = Map.groupBy(failed, (job) => job.stage_key);
  for (const { key: stageKey } of session.process.stages) {
    const jobs = byStage.get(stageKey) ?? [];
    const [first] = jobs;
    if (!first) continue;
    const standing = await readStanding(tx, first.stage_run_id);
    const states = toLaneStates(session.process, stageKey, standing);
    const laneIds = stageLanes[stageKey] ?? [];
    const roots = jobs.filter((job) => job.step_key === null);
    const lost = roots.map((root): LostLane => {
      const steps = [...(standing.steps.get(root.lane_id) ?? [])];
      const own = steps.filter(([, state]) => state === 'failed').map(([key]) => key);
      return { laneId: root.lane_id, steps: [...own, ...stepsOf(root.error)] };
    });
    const place = { process: session.process, stageKey, laneIds, states };
    const gone = isBorne(session, roots)
      ? lost.map(({ laneId }) => laneId)
      : [...excuseLanes({ ...place, lost }), ...lanesWithoutInput(session, roots, losses)];
    if (gone.length > 0) excused[stageKey] = gone;
    for (const laneId of laneIds) {
      const own = jobs.filter((job) => job.lane_id === laneId);
      const isOver = lost.some((lane) => lane.laneId === laneId);
      if (gone.includes(laneId))
        losses.push(...lossesOfLane(session, stageKey, laneId, own, standing));
      else if (!isOver) losses.push(...lossesOfSteps(session, own, states[laneId] ?? {}));
    }
  }
  return { losses, excused };
}

/** Whether the stage was closed without its lost lanes, or the run may go on without any. */
function isBorne(session: SessionView, roots: readonly FailedJob[]): boolean {
  const status = roots[0]?.parent_status;
  if (status === 'failed' || status === 'cancelled') return false;
  return session.allowDegraded || status === 'completed';
}

/** Lanes that could not go on because of what was lost, and borne, in an earlier stage. */
function lanesWithoutInput(
  { process, lanes }: SessionView,
  roots: readonly FailedJob[],
  losses: readonly Loss[],
): string[] {
  const isConsequence = ({ stage_key, lane_id, error }: FailedJob): boolean => {
    if (error?.code !== 'plan_inputs_missing') return false;
    const { step: stepKey, input: name } = error.details ?? {};
    const stage = process.stages.find(({ key }) => key === stage_key);
    const step = stage?.steps.find(({ key }) => key === stepKey);
    const input = step?.inputs.find((one) => one.name === name);
    const ordinal = lanes.find((lane) => lane.id === lane_id)?.ordinal;
    return losses.some(
      (loss) =>
        loss.stage === input?.stage &&
        loss.document === input.documentKey &&
        (input.scope === 'all' || loss.lane === ordinal),
    );
  };
  return roots.filter(isConsequence).map(({ lane_id }) => lane_id);
}

/** The steps that a lane's root could not plan. */
function stepsOf(error: JobError | null): string[] {
  const { step, steps } = error?.details ?? {};
  return [step, ...(Array.isArray(steps) ? steps : [])].filter((key) => typeof key === 'string');
}

/** In a lost lane: the jobs that ended without a document, and the steps that were never planned. */
function lossesOfLane(
  session: SessionView,
  stageKey: string,
  laneId: string,
  jobs: readonly FailedJob[],
  standing: { readonly steps: ReadonlyMap<string, ReadonlyMap<string, string>> },
): Loss[] {
  const isCause = ({ status, error }: FailedJob): boolean =>
    status === 'failed' && error !== null && !CONSEQUENCES.includes(error.code);
  const cause = jobs.find(isCause)?.error;
  const planned = standing.steps.get(laneId);
  const stage = stageOf(session.process, stageKey);
  const never = activeSteps(stage).filter((step) => !planned?.has(step.key));
  return [
    ...jobs
      .filter((job) => job.step_key !== null)
      .map((job) => toLoss(session, job, isCause(job) ? job.error : cause)),
    ...never.map((step): Loss => {
      const place = { stage_key: stageKey, lane_id: laneId, step_key: step.key };
      const about = { document_key: step.output.documentKey, source_group: null };
      return toLoss(session, { ...place, ...about }, cause);
    }),
  ];
}

/** In a lane that goes on: jobs that failed in steps whose policy lets them. */
const lossesOfSteps = (
  session: SessionView,
  jobs: readonly FailedJob[],
  states: Readonly<Record<string, string>>,
): Loss[] =>
  jobs
    .filter((job) => job.step_key !== null && states[job.step_key] === 'done')
    .map((job) => toLoss(session, job, job.error));

function toLoss(
  session: SessionView,
  job: Pick<FailedJob, 'stage_key' | 'lane_id' | 'step_key' | 'document_key' | 'source_group'>,
  error: JobError | null | undefined,
): Loss {
  return {
    iteration: session.iteration,
    stage: job.stage_key,
    step: job.step_key ?? '',
    document: job.document_key ?? '',
    lane: session.lanes.find((lane) => lane.id === job.lane_id)?.ordinal ?? null,
    lineage: job.source_group,
    error: error ? { code: error.code, message: error.message } : null,
  };
}

/** SQL: the lineage of a job that was planned before the document was there with which it begins. */
const AWAITED_LINEAGE = `(
  select d.contribution_id from jsonb_path_query(j.payload, 'lax $.awaits[*]') as a
  join documents d on d.session_id = j.session_id and d.identity = a->>'identity'
  where not d.superseded and a->>'contributionId' = j.payload->'planned'->>'sourceGroup')`;

/** Roots and EXECUTE jobs of the pass that ended without success, in the order of planning. */
export function readFailedJobs(tx: TenantQueries, pass: Pass): Promise<FailedJob[]> {
  return tx.query<FailedJob>(
    `select r.stage_key, j.stage_run_id, j.lane_id, j.step_key, j.status, j.error,
       p.status as parent_status, j.document_key,
       coalesce(j.source_group, ${AWAITED_LINEAGE}) as source_group
     from jobs j
     join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
     join jobs p on p.tenant_id = j.tenant_id and p.id = j.parent_job_id
     where j.session_id = $1 and r.iteration = $2 and j.counts
       and not j.continued and j.lane_id is not null
       and (j.status = 'failed' or j.cancel_reason = 'parent_ended')
     order by j.seq`,
    [pass.id, pass.iteration],
    'read-failed-jobs',
  );
}
