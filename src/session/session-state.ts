import { isOver, type JobStatus, type JobType } from '../jobs/transitions.ts';
import type { SessionEvent } from './event-types.ts';

/** What the log tells of one job. */
type JobState = {
  readonly type: JobType;
  readonly status: JobStatus;
  /** Whether its chain goes on in a next job. */
  readonly continued: boolean;
  readonly stage: string | null;
  readonly iteration: number | null;
  readonly lane: number | null;
  readonly step: string | null;
};

/** A session as its events tell it. */
export type SessionState = {
  readonly status: string;
  /** Why it is paused; empty while it is not. */
  readonly gates: ReadonlySet<string>;
  readonly iteration: number;
  readonly jobs: ReadonlyMap<string, JobState>;
  /** How often a stage came to an end, in all passes. */
  readonly stageEnds: number;
  /** What all calls took so far, in and out. */
  readonly tokens: number;
};

/** How far one participant is with one step, in the current pass. */
export type StepRow = {
  readonly stage: string;
  readonly step: string;
  readonly lane: number;
  readonly done: number;
  readonly running: number;
  readonly failed: number;
};

/** Before the first event. */
export const NO_EVENTS: SessionState = {
  status: 'draft',
  gates: new Set(),
  iteration: 1,
  jobs: new Map(),
  stageEnds: 0,
  tokens: 0,
};

/** The state after some more events: a pure function of the log, so it can be rebuilt at any time. */
export function reduceSession(before: SessionState, events: readonly SessionEvent[]): SessionState {
  // Copied once for all events: a session has thousands of jobs.
  const jobs = new Map(before.jobs);
  return events.reduce<SessionState>((state, event) => reduceOne(state, event, jobs), {
    ...before,
    jobs,
  });
}

function reduceOne(
  state: SessionState,
  event: SessionEvent,
  jobs: Map<string, JobState>,
): SessionState {
  if ('status' in event) {
    const { type, status, stage, iteration, lane, step } = event;
    const continued = event.kind === 'job-continued' || jobs.get(event.jobId)?.continued === true;
    jobs.set(event.jobId, { type, status, continued, stage, iteration, lane, step });
    return state;
  }
  switch (event.kind) {
    case 'session-created':
      return { ...state, status: 'draft' };
    case 'session-started':
    case 'session-retried':
    case 'session-continued':
      return { ...state, status: 'running', iteration: event.iteration };
    case 'session-completed':
    case 'session-cancelled':
    case 'session-erased':
      return { ...state, status: event.kind.slice('session-'.length), gates: new Set() };
    case 'session-failed':
      return { ...state, status: 'failed' };
    case 'session-paused':
      if (isStop(event.reason)) return { ...state, status: 'awaiting_review' };
      return { ...state, gates: new Set(state.gates).add(event.reason) };
    case 'session-resumed':
      if (isStop(event.reason)) return { ...state, status: 'running' };
      return { ...state, gates: new Set([...state.gates].filter((gate) => gate !== event.reason)) };
    case 'stage-completed':
    case 'stage-failed':
    case 'stage-cancelled':
      return { ...state, stageEnds: state.stageEnds + 1 };
    case 'call-ended':
      return { ...state, tokens: state.tokens + event.inputTokens + event.outputTokens };
    default:
      return state;
  }
}

/** Between two stages, for a review or at `--until`; every other reason is a gate. */
const isStop = (reason: string): boolean => reason === 'review' || reason === 'until';

/** The steps of the current pass in the order in which they began; a chain of calls counts once. */
export function countSteps({ jobs, iteration }: SessionState): StepRow[] {
  const rows = new Map<string, { -readonly [Key in keyof StepRow]: StepRow[Key] }>();
  for (const job of jobs.values()) {
    const { stage, step, lane } = job;
    if (job.type !== 'EXECUTE' || job.iteration !== iteration) continue;
    if (stage === null || step === null || lane === null) continue;
    const key = `${stage}/${step}/${lane}`;
    const row = rows.get(key) ?? { stage, step, lane, done: 0, running: 0, failed: 0 };
    rows.set(key, row);
    if (job.status === 'completed' && !job.continued) row.done++;
    else if (job.status === 'failed' || job.status === 'cancelled') row.failed++;
    else if (!isOver(job.status)) row.running++;
  }
  return [...rows.values()];
}
