import { isOver, type JobStatus } from '../../src/jobs/transitions.ts';
import { mayFollow } from './job-status.ts';
import {
  countedChildren,
  hasLiveChild,
  isLaneRoot,
  type ModelJob,
  parentOf,
  stepsUnder,
  succeeded,
  type World,
} from './world.ts';

type Patch = Partial<ModelJob>;

export const NOT_LEASED = { worker: null, token: null } as const;

/**
 * One statement: every patch is made from what was before it, all are applied, and then whoever
 * depends on a job that ended is settled.
 */
export function change(
  world: World,
  jobs: Iterable<ModelJob>,
  patch: (job: ModelJob) => Patch,
): void {
  const changes = [...jobs].map((job) => ({ job, from: job.status, patch: patch(job) }));
  for (const { job, patch } of changes) Object.assign(job, patch);
  for (const { job, from } of changes) {
    if (job.status === from) continue;
    if (!mayFollow(from, job.status)) throw new Error(`illegal: ${from} → ${job.status}`);
    if (isOver(job.status)) world.live.delete(job);
    else world.live.add(job);
    world.onChange(job, from);
    if (job.status === 'failed' && standsForStage(job) && world.status === 'running') {
      world.status = 'failed';
    }
  }
  const ended = changes
    .filter(({ job, from }) => isOver(job.status) && !isOver(from) && !job.continued)
    .map(({ job }) => job);
  if (ended.length > 0) settle(world, ended);
}

/** A job above the lanes of a stage: its failure is the session's. */
const standsForStage = ({ role }: ModelJob): boolean => role === 'stage';

/** Lanes, then parents, then waiters, then what was under a job that did not succeed. */
function settle(world: World, ended: readonly ModelJob[]): void {
  settleLanes(world, ended);
  settleParents(world, ended);
  wakeWaiters(world, ended);
  cancelChildren(world, ended);
}

/** Whoever waited for a chain goes on with its success and fails with anything else. */
export function wakeWaiters(world: World, ended: readonly ModelJob[]): void {
  const good = new Map(ended.map((job) => [job.chain, succeeded(job)]));
  const waiting = [...good.keys()]
    .flatMap((chain) => world.waiters.get(chain) ?? [])
    .filter((job) => job.status === 'waiting_for_prerequisite');
  for (const { prerequisite, stageRun, lane, step } of waiting) {
    const begun =
      good.get(prerequisite!) && stageRun !== null && stepOf(world, stageRun, lane, step);
    if (begun && begun.state === 'waiting') begun.state = 'running';
  }
  change(world, waiting, (job) =>
    good.get(job.prerequisite!)
      ? { status: 'pending' }
      : { status: 'failed', error: 'prerequisite_failed' },
  );
}

const stepOf = (world: World, stageRun: string, lane: string | null, step: string | null) =>
  world.stageRuns.get(stageRun)!.steps.get(`${lane}/${step}`);

function settleParents(world: World, ended: readonly ModelJob[]): void {
  const counted = ended.filter((job) => job.counts && job.parent !== null);
  const parentsOf = (jobs: readonly ModelJob[]) =>
    new Set(jobs.map((job) => parentOf(world, job)!));
  const fatal = counted.filter((job) => job.status !== 'completed' && job.policy === 'all');
  change(
    world,
    [...parentsOf(fatal)].filter((parent) => !isOver(parent.status)),
    () => ({ status: 'failed', error: 'child_failed', ...NOT_LEASED }),
  );
  wakeParents(world, parentsOf(counted));
}

/** Parents that wait for nothing any more go on or are over, or fail where too few succeeded. */
export function wakeParents(world: World, parents: Iterable<ModelJob>): void {
  const ready = [...parents].filter(
    (parent) => parent.status === 'waiting_for_children' && !hasLiveChild(world, parent.id),
  );
  change(world, ready, (parent) => {
    const steps = stepsUnder(world, parent.id);
    const degraded = parent.degraded || steps.some((step) => step.lost);
    if (steps.some((step) => step.lost && step.succeeded < step.needed)) {
      return { status: 'failed', degraded, error: 'quorum_missed' };
    }
    const isDone = parent.endsWithChildren && !steps.some((step) => step.lost);
    const status = isDone ? 'completed' : 'pending_next_step';
    return { status, degraded, error: null, runAfter: world.now };
  });
}

const MAY_RUN_ON: readonly JobStatus[] = ['processing', 'completed', 'superseded'];

/** What has not begun ends with its parent; what runs may finish. */
function cancelChildren(world: World, ended: readonly ModelJob[]): void {
  const orphans = ended
    .filter((job) => job.status !== 'completed')
    .flatMap((job) => countedChildren(world, job.id))
    .filter((child) => !isOver(child.status) && !MAY_RUN_ON.includes(child.status));
  change(world, orphans, () => ({ status: 'cancelled', error: 'parent_ended' }));
}

function settleLanes(world: World, ended: readonly ModelJob[]): void {
  const staged = ended.filter((job) => job.stageRun !== null);
  for (const job of staged) {
    if (job.lane === null || !job.counts) continue;
    const { steps } = world.stageRuns.get(job.stageRun!)!;
    if (isLaneRoot(job)) {
      if (job.status === 'completed') continue;
      const before = steps.get(`${job.lane}/*`);
      steps.set(`${job.lane}/*`, { state: 'failed', degraded: before?.degraded ?? false });
      continue;
    }
    if (job.parent === null) continue;
    const step = stepsUnder(world, job.parent).find((step) => step.step === job.step);
    const hopeless = step?.lost && step.needed > step.succeeded + step.open;
    if (!step || job.step === null || (step.open > 0 && !hopeless)) continue;
    const failed = step.lost && step.succeeded < step.needed;
    const before = steps.get(`${job.lane}/${job.step}`)?.state;
    const together = staged.filter((one) => one.parent === job.parent && one.step === job.step);
    // What was cancelled before it began has not failed.
    const isCancelled = together.every(({ status, counts }) => !counts || status === 'cancelled');
    if (before === 'waiting' && isCancelled) continue;
    steps.set(`${job.lane}/${job.step}`, {
      state: failed ? 'failed' : 'completed',
      degraded: step.lost && !failed,
    });
  }
  const touched = new Set(staged.map((job) => job.stageRun!));
  for (const id of touched) world.stageRuns.get(id)!.version++;
  // How a stage stands is told when one of its lanes ends.
  if (ended.some(isLaneRoot)) for (const id of touched) settleStageRun(world, id);
  wakeLanes(world, touched);
}

function settleStageRun(world: World, id: string): void {
  const run = world.stageRuns.get(id)!;
  const roots = run.roots.filter((root) => root.counts && !root.continued);
  const has = (status: JobStatus): boolean => roots.some((root) => root.status === status);
  run.degraded ||= has('failed') || has('cancelled') || roots.some((root) => root.degraded);
  if (roots.length === 0 || !roots.every((root) => isOver(root.status))) return;
  if (roots.some(succeeded)) run.state = 'completed';
  else run.state = has('failed') ? 'failed' : 'cancelled';
}

/** News of any lane wakes everybody at a barrier of the stage: each decides anew. */
function wakeLanes(world: World, stageRuns: ReadonlySet<string>): void {
  const waiting = [...world.live].filter(
    (job) => job.status === 'waiting_for_lanes' && stageRuns.has(job.stageRun!),
  );
  change(world, waiting, () => ({ status: 'pending_next_step', runAfter: world.now }));
}
