import { isOver, type JobStatus } from '../../src/jobs/transitions.ts';
import { hasLiveChild, lastLink, type ModelJob, parentOf, succeeded, type World } from './world.ts';

function hold(condition: boolean, rule: string, job?: ModelJob): void {
  if (condition) return;
  const subject = job ? ` (${job.type} ${job.id.slice(-4)}, ${job.status})` : '';
  throw new Error(`broken rule: ${rule}${subject}`);
}

/** What must be true of the moment in which a job changes its status. */
export function checkChange(world: World, job: ModelJob, from: JobStatus): void {
  if (job.status === 'processing') checkStart(world, job);
  const isWoken = job.status === 'pending_next_step' || job.status === 'completed';
  if (from === 'waiting_for_children' && isWoken) {
    hold(!hasLiveChild(world, job.id), 'a parent wakes after its last child', job);
  }
  if (from === 'waiting_for_prerequisite' && job.status === 'pending') {
    const last = lastLink(world, job.prerequisite!);
    hold(succeeded(last), 'a waiter goes on after its prerequisite succeeded', job);
  }
}

function checkStart(world: World, job: ModelJob): void {
  hold(world.status === 'running', 'nothing starts in a session that is over', job);
  hold(world.gates.size === 0, 'nothing starts behind a gate', job);
  hold(job.runAfter <= world.now, 'nothing starts before it is due', job);
  const parent = parentOf(world, job);
  hold(!parent || parent.progress > 0, 'nothing starts before its parent planned it', job);
  if (job.prerequisite && job.chain === job.id) {
    const last = lastLink(world, job.prerequisite);
    hold(succeeded(last), 'nothing starts before its prerequisite succeeded', job);
  }
  const links = world.chains.get(job.chain)!;
  const earlier = links.slice(0, links.indexOf(job));
  hold(
    earlier.every((link) => link.continued && isOver(link.status)),
    'a link starts after the one before it',
    job,
  );
}

/** What must be true between any two steps: nobody waits for something that is over. */
export function checkRest(world: World): void {
  let running = 0;
  for (const job of world.live) {
    if (job.status === 'processing') running++;
    checkWaiting(world, job);
    const parent = parentOf(world, job);
    const orphaned = parent?.status === 'failed' || parent?.status === 'cancelled';
    hold(!orphaned || job.started || !job.counts, 'what has not begun ends with its parent', job);
  }
  const mayLive = world.status !== 'cancelled';
  hold(mayLive || world.live.size === 0, 'a cancelled session has no live job');
  hold(running <= (world.maxRunning ?? running), 'no more run than the session allows');
  for (const run of world.stageRuns.values()) {
    const roots = run.roots.filter((root) => root.counts);
    const goesOn = roots.length === 0 || roots.some((root) => !isOver(root.status));
    hold(goesOn === (run.state === 'running'), 'a stage runs as long as one of its lanes does');
  }
}

function checkWaiting(world: World, job: ModelJob): void {
  switch (job.status) {
    case 'waiting_for_children':
      return hold(hasLiveChild(world, job.id), 'a parent waits for living children', job);
    case 'waiting_for_prerequisite': {
      const last = lastLink(world, job.prerequisite!);
      return hold(!isOver(last.status), 'a waiter waits for a living chain', job);
    }
    case 'waiting_for_lanes': {
      const { version } = world.stageRuns.get(job.stageRun!)!;
      return hold(version === job.waitsAt, 'a lane waits only while nothing ends', job);
    }
    case 'processing':
      return hold(job.token !== null && job.worker !== null, 'what runs has a lease', job);
    default:
      return undefined;
  }
}

/** What must be true at the end of a run whose gates are open and whose tries are used up. */
export function checkEnd(world: World): void {
  const stuck = [...world.live].map((job) => `${job.id.slice(-4)} ${job.status}`);
  hold(stuck.length === 0, `every job ends; these do not: ${stuck.join(', ')}`);
  for (const job of world.jobs.values()) {
    hold(!job.continued || succeeded(job), 'only a completed link has a next', job);
    hold(job.status !== 'completed' || job.started, 'nothing completes without having run', job);
  }
}
