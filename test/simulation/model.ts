import type { Gate } from '../../src/jobs/sessions.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { isOver } from '../../src/jobs/transitions.ts';
import { CLAIMABLE } from './job-status.ts';
import { change, NOT_LEASED, wakeParents, wakeWaiters } from './wake.ts';
import {
  addTo,
  countedChildren,
  type Execution,
  isLaneRoot,
  LEASE_MS,
  lastLink,
  type ModelJob,
  parentOf,
  Refusal,
  type SimJob,
  succeeded,
  type World,
} from './world.ts';

/** What a commit leaves behind, in the words of a history. */
export type SimEffects = {
  /** Stands for rows: the job's own count of what it has written. */
  readonly progress?: number;
  readonly children?: readonly SimJob[];
  readonly continuation?: SimJob;
  /** Steps of the job's lane that needed no job. */
  readonly next?:
    | { readonly waitFor: 'children'; readonly thenEnd?: boolean }
    | { readonly waitFor: 'lanes'; readonly version: number }
    | { readonly pause: Gate };
};

export type SimFault = {
  readonly retryable: boolean;
  readonly retryAfterMs: number;
  /** Whether the try counts: a request that never left does not. */
  readonly sent: boolean;
};

/** Inserts jobs, or refuses them all. */
export function insert(world: World, jobs: readonly SimJob[], link?: { chain: string }): void {
  for (const job of jobs) {
    const parent = job.parentId ? world.jobs.get(job.parentId) : undefined;
    if (!link && parent && job.type !== 'RENDER' && isOver(parent.status)) {
      throw new Refusal('parent_finished');
    }
  }
  const rows = jobs.map((job) => addJob(world, job, link));
  const before = new Map([...world.stageRuns].map(([id, { steps }]) => [id, new Map(steps)]));
  const waits = (row: ModelJob): boolean => row.status === 'waiting_for_prerequisite';
  // What waits first: a step begins with its first job that does not.
  for (const row of rows.toSorted((a, b) => Number(waits(b)) - Number(waits(a)))) {
    const { stageRun, lane, step, counts, parent } = row;
    if (!counts || parent === null || stageRun === null || lane === null || step === null) continue;
    const { steps } = world.stageRuns.get(stageRun)!;
    const place = `${lane}/${step}`;
    const isRunning = before.get(stageRun)?.get(place)?.state === 'running';
    const state = waits(row) && !isRunning ? 'waiting' : 'running';
    steps.set(place, { state, degraded: false });
  }
  // A prerequisite that is over already has nobody else to wake these.
  const over = rows
    .filter((row) => row.status === 'waiting_for_prerequisite')
    .map((row) => lastLink(world, row.prerequisite!))
    .filter((last) => isOver(last.status));
  wakeWaiters(world, over);
  // The next link of a chain whose parent is over: the chain had not ended, so it is not lost.
  const orphans = rows.filter((row) => {
    const parent = parentOf(world, row);
    return link && row.counts && (parent?.status === 'failed' || parent?.status === 'cancelled');
  });
  change(world, orphans, () => ({ status: 'cancelled', error: 'parent_ended' }));
}

function addJob(world: World, job: SimJob, link?: { chain: string }): ModelJob {
  const prerequisite = job.prerequisiteId ?? null;
  const row: ModelJob = {
    id: job.id,
    seq: ++world.seq,
    type: job.type,
    role: job.role ?? 'step',
    counts: job.type !== 'RENDER',
    parent: job.parentId ?? null,
    prerequisite,
    chain: link?.chain ?? job.id,
    stageRun: job.stageRunId ?? null,
    lane: job.laneId ?? null,
    step: job.stepKey ?? null,
    policy: job.policy ?? 'all',
    quorum: job.quorum ?? null,
    maxAttempts: job.maxAttempts ?? DEFAULT_JOB_SETTINGS.maxAttempts,
    status: prerequisite ? 'waiting_for_prerequisite' : 'pending',
    continued: false,
    endsWithChildren: false,
    degraded: false,
    attempt: 0,
    takeovers: 0,
    runAfter: world.now,
    worker: null,
    token: null,
    leaseUntil: 0,
    error: null,
    progress: 0,
    started: false,
    waitsAt: -1,
  };
  if (link) row.status = 'pending_continuation';
  world.jobs.set(row.id, row);
  world.live.add(row);
  addTo(world.children, row.parent, row);
  addTo(world.waiters, prerequisite, row);
  addTo(world.chains, row.chain, row);
  if (isLaneRoot(row)) world.stageRuns.get(row.stageRun!)!.roots.push(row);
  return row;
}

/** Takes back what ran out of lease, then gives the worker what is due. */
export function claim(world: World, worker: string, batch: number): Execution[] {
  requeueExpired(world);
  if (world.status !== 'running' || world.gates.size > 0) return [];
  const running = [...world.live].filter((job) => job.status === 'processing').length;
  const room = Math.min(batch, (world.maxRunning ?? Number.POSITIVE_INFINITY) - running);
  const due = [...world.live]
    .filter((job) => CLAIMABLE.includes(job.status) && job.runAfter <= world.now)
    .toSorted((a, b) => a.runAfter - b.runAfter || a.seq - b.seq)
    .slice(0, Math.max(0, room));
  change(world, due, () => ({
    status: 'processing',
    worker,
    token: ++world.tokens,
    leaseUntil: world.now + LEASE_MS,
    started: true,
  }));
  const claimed = due.map((job) => ({ job, token: job.token! }));
  world.executions.push(...claimed);
  return claimed;
}

function requeueExpired(world: World): void {
  const expired = [...world.live].filter(
    (job) => job.status === 'processing' && job.leaseUntil < world.now,
  );
  takeOver(world, expired);
}

/** Back to pending, from the sixth time on after a rest of its own, up to the limit. */
function takeOver(world: World, jobs: readonly ModelJob[]): void {
  let suspects = 0;
  change(
    world,
    jobs.toSorted((a, b) => a.seq - b.seq),
    (job) => {
      const fails = job.takeovers >= DEFAULT_JOB_SETTINGS.maxTakeovers;
      const rest = job.takeovers < 5 ? 0 : Math.min(60, (job.takeovers - 4) * ++suspects);
      return {
        status: fails ? 'failed' : 'pending',
        error: fails ? 'takeovers_exhausted' : job.error,
        takeovers: job.takeovers + 1,
        runAfter: world.now + rest * 1_000,
        ...NOT_LEASED,
      };
    },
  );
}

const holds = ({ job, token }: Execution): boolean =>
  job.status === 'processing' && job.token === token;

/** Completes what still has its lease and says which that was. */
export function complete(world: World, executions: readonly Execution[]): string[] {
  const held = executions.filter(holds).map(({ job }) => job);
  change(world, held, () => ({ status: 'completed', error: null, ...NOT_LEASED }));
  return held.map((job) => job.id);
}

/** A job's effects and its change of status: all, or `lease_lost` and nothing. */
export function commit(world: World, execution: Execution, effects: SimEffects): void {
  if (!holds(execution)) throw new Refusal('lease_lost');
  const { job } = execution;
  const { next, continuation } = effects;
  job.progress = effects.progress ?? job.progress;
  const { stageRun: stageRunId, lane: laneId } = job;
  insert(
    world,
    (effects.children ?? []).map((child) => ({ stageRunId, laneId, ...child, parentId: job.id })),
  );
  if (next && 'pause' in next) world.gates.add(next.pause);
  // Children that could not start may have failed the job already; then that is its end.
  if (!holds(execution)) return;
  const settled = { attempt: 0, takeovers: 0, error: null, runAfter: world.now, ...NOT_LEASED };
  change(world, [job], () => {
    if (!next) {
      const { takeovers } = job;
      return { ...settled, takeovers, status: 'completed', continued: continuation !== undefined };
    }
    if ('pause' in next) return { ...settled, status: 'pending' };
    if (next.waitFor === 'children') {
      const endsWithChildren = next.thenEnd === true;
      return { ...settled, status: 'waiting_for_children', endsWithChildren };
    }
    // News since the job looked, its own included: it must look again.
    const { version } = world.stageRuns.get(job.stageRun!)!;
    if (next.version !== version) return { ...settled, status: 'pending_next_step' };
    return { ...settled, status: 'waiting_for_lanes', waitsAt: version };
  });
  wakeParents(world, [job]);
  if (continuation) insertLink(world, job, continuation);
}

function insertLink(world: World, job: ModelJob, link: SimJob): void {
  const inherited = {
    parentId: job.parent,
    stageRunId: job.stageRun,
    laneId: job.lane,
    role: job.role,
    stepKey: job.step,
    policy: job.policy,
    quorum: job.quorum,
    maxAttempts: job.maxAttempts,
  };
  insert(world, [{ ...inherited, ...link }], { chain: job.chain });
}

/** Another try later while tries are left and the fault may pass; the end otherwise. */
export function fail(world: World, execution: Execution, fault: SimFault): void {
  if (!holds(execution)) return;
  const { job } = execution;
  const tries = job.attempt + (fault.sent ? 1 : 0);
  const again = fault.retryable && tries < job.maxAttempts;
  change(world, [job], () => ({
    ...NOT_LEASED,
    error: fault.retryable ? 'conflict' : 'usage_invalid',
    status: again ? 'retrying' : 'failed',
    attempt: again ? tries : job.attempt + 1,
    runAfter: again ? world.now + fault.retryAfterMs : job.runAfter,
  }));
}

export function handBack(world: World, executions: readonly Execution[]): void {
  const held = executions.filter(holds).map(({ job }) => job);
  change(world, held, () => ({ status: 'pending', ...NOT_LEASED }));
}

/** A process that starts on a directory of its own: whatever ran has died with the last one. */
export function restart(world: World): void {
  const running = [...world.live].filter((job) => job.status === 'processing');
  takeOver(world, running);
}

export function beat(world: World, executions: readonly Execution[]): void {
  for (const { job } of executions.filter(holds)) job.leaseUntil = world.now + LEASE_MS;
}

export function cancel(world: World): void {
  if (world.status !== 'running') throw new Refusal('not_found');
  world.status = 'cancelled';
  world.gates.clear();
  change(world, world.live, () => ({
    status: 'cancelled',
    error: 'session_cancelled',
    ...NOT_LEASED,
  }));
}

/** A stage whose own job is done was left behind, with whatever failed in it. */
function closedStages(world: World): ReadonlySet<string> {
  const own = [...world.jobs.values()].filter(({ role }) => role === 'stage');
  const byRun = Map.groupBy(own, (job) => job.stageRun ?? '');
  return new Set([...byRun].filter(([, jobs]) => jobs.every(succeeded)).map(([id]) => id));
}

/** Everything that failed, or ended because something else did, goes again as one statement. */
export function retry(world: World): number {
  if (world.status === 'cancelled') throw new Refusal('not_found');
  const closed = closedStages(world);
  const lost = [...world.jobs.values()].filter(
    (job) =>
      !job.continued &&
      (job.status === 'failed' || (job.status === 'cancelled' && job.error === 'parent_ended')),
  );
  const givenUp = new Set(lost.filter((job) => job.counts && closed.has(job.stageRun ?? '')));
  // What waits for one of these would wait for ever.
  for (const { chain } of givenUp) {
    for (const job of lost) if (job.prerequisite === chain) givenUp.add(job);
  }
  const again = lost.filter((job) => !givenUp.has(job));
  for (const [id, { steps }] of world.stageRuns) {
    if (closed.has(id)) continue;
    for (const [name, step] of steps) {
      if (name.endsWith('/*')) steps.delete(name);
      if (step.state === 'failed') Object.assign(step, { state: 'running', degraded: false });
    }
  }
  change(world, again, (job) => {
    const unfinished = countedChildren(world, job.id).some(
      (child) => !child.continued && !succeeded(child),
    );
    const settled = { attempt: 0, takeovers: 0, error: null, degraded: false, runAfter: world.now };
    if (job.prerequisite && !succeeded(lastLink(world, job.prerequisite)))
      return { ...settled, status: 'waiting_for_prerequisite' };
    return { ...settled, status: unfinished ? 'waiting_for_children' : 'pending' };
  });
  // What it waited for has ended since, so that its step begins.
  for (const { status, stageRun, lane, step } of world.jobs.values()) {
    const place = world.stageRuns.get(stageRun ?? '')?.steps.get(`${lane}/${step}`);
    if (status === 'pending' && place?.state === 'waiting') place.state = 'running';
  }
  for (const run of world.stageRuns.values()) {
    const goesOn = run.roots.some((root) => root.counts && !isOver(root.status));
    if (goesOn) Object.assign(run, { state: 'running', degraded: false });
  }
  world.status = 'running';
  return again.length;
}

export function supersede(world: World, id: string): void {
  const job = world.jobs.get(id)!;
  if (job.status === 'superseded') return;
  if (job.status !== 'completed') throw new Refusal('job_transition_refused');
  change(world, [job], () => ({ status: 'superseded' }));
}
