import { isOver, type JobStatus, type JobType } from '../jobs/transitions.ts';
import type { SessionEvent } from './event-types.ts';

type EventError = Extract<SessionEvent, { kind: 'job-retried' }>['error'];

/** What the log tells of one job. */
export type JobState = {
  readonly type: JobType;
  readonly status: JobStatus;
  /** Whether its chain goes on in a next job. */
  readonly continued: boolean;
  readonly stage: string | null;
  readonly iteration: number | null;
  readonly lane: number | null;
  readonly step: string | null;
  /** When it was claimed last, by the database's clock; null before the first time. */
  readonly startedAt: string | null;
  /** What was saved of the answer since then. */
  readonly characters: number;
  /** What is read for it before its call; null where nothing is, or it is read. */
  readonly reading: { readonly title: string; readonly done: number; readonly all: number } | null;
  /** The fault that a retry waits for; null in every other status. */
  readonly retry: {
    readonly error: EventError;
    readonly attempt: number;
    readonly nextTryAt: string;
  } | null;
};

/** How far a stage or a step is. */
type Progress = 'running' | 'completed' | 'failed' | 'cancelled';

/** A session as its events tell it. */
export type SessionState = {
  readonly status: string;
  /** Why it is paused; empty while it is not. */
  readonly gates: ReadonlySet<string>;
  readonly iteration: number;
  /** When this pass began, by the database's clock; null before the first one. */
  readonly startedAt: string | null;
  readonly jobs: ReadonlyMap<string, JobState>;
  /** By `pass/stage`, and for the step of a lane by `pass/stage/step/lane`. */
  readonly progress: ReadonlyMap<string, Progress>;
  /** Calls that have ended, also without an answer or cut off, by `pass/stage`. */
  readonly calls: ReadonlyMap<string, number>;
  /** What all calls took so far, in and out. */
  readonly tokens: number;
  /** What they cost, those at a known price. */
  readonly costMicros: number;
  /** How many calls with an answer had no known price. */
  readonly unpriced: number;
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
  startedAt: null,
  jobs: new Map(),
  progress: new Map(),
  calls: new Map(),
  tokens: 0,
  costMicros: 0,
  unpriced: 0,
};

/** The state after some more events: a pure function of the log, so it can be rebuilt at any time. */
export function reduceSession(before: SessionState, events: readonly SessionEvent[]): SessionState {
  // Copied once for all events: a session has thousands of jobs.
  const maps = {
    jobs: new Map(before.jobs),
    progress: new Map(before.progress),
    calls: new Map(before.calls),
  };
  return events.reduce<SessionState>((state, event) => reduceOne(state, event, maps), {
    ...before,
    ...maps,
  });
}

type Maps = {
  readonly jobs: Map<string, JobState>;
  readonly progress: Map<string, Progress>;
  readonly calls: Map<string, number>;
};

function reduceOne(state: SessionState, event: SessionEvent, maps: Maps): SessionState {
  if ('status' in event) {
    maps.jobs.set(event.jobId, reduceJob(maps.jobs.get(event.jobId), event));
    return state;
  }
  switch (event.kind) {
    case 'session-created':
      return { ...state, status: 'draft' };
    case 'session-started':
    case 'session-continued':
      return { ...state, status: 'running', iteration: event.iteration, startedAt: event.at };
    case 'session-retried':
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
    case 'call-ended': {
      const place = `${event.iteration}/${event.stage}`;
      maps.calls.set(place, (maps.calls.get(place) ?? 0) + 1);
      return addCall(state, event);
    }
    default:
      noteProgress(event, maps);
      return state;
  }
}

type JobEvent = Extract<SessionEvent, { status: JobStatus }>;

function reduceJob(before: JobState | undefined, event: JobEvent): JobState {
  const { type, status, stage, iteration, lane, step } = event;
  const isStart = event.kind === 'job-started';
  return {
    type,
    status,
    stage,
    iteration,
    lane,
    step,
    continued: event.kind === 'job-continued' || before?.continued === true,
    startedAt: isStart ? event.at : (before?.startedAt ?? null),
    characters: isStart ? 0 : (before?.characters ?? 0),
    reading: isStart ? null : (before?.reading ?? null),
    retry:
      event.kind === 'job-retried'
        ? { error: event.error, attempt: event.attempt, nextTryAt: event.nextTryAt }
        : null,
  };
}

/** Calls that were cut off at an unknown price count as unpriced; failed ones cost nothing. */
function addCall(
  state: SessionState,
  { inputTokens, outputTokens, costMicros, outcome }: Extract<SessionEvent, { kind: 'call-ended' }>,
): SessionState {
  const isUnpriced = costMicros === null && outcome !== 'failed';
  return {
    ...state,
    tokens: state.tokens + inputTokens + outputTokens,
    costMicros: state.costMicros + (costMicros ?? 0),
    unpriced: state.unpriced + (isUnpriced ? 1 : 0),
  };
}

/** Notes text that arrives, and stages and steps that begin and end. */
function noteProgress(event: SessionEvent, { jobs, progress }: Maps): void {
  switch (event.kind) {
    case 'text-saved': {
      const job = jobs.get(event.jobId);
      if (job) jobs.set(event.jobId, { ...job, characters: job.characters + event.characters });
      break;
    }
    case 'parts-read': {
      const job = jobs.get(event.jobId);
      const { title, done, all } = event;
      const reading = done < all ? { title, done, all } : null;
      if (job) jobs.set(event.jobId, { ...job, reading });
      break;
    }
    case 'stage-started':
    case 'stage-retried':
    case 'stage-completed':
    case 'stage-failed':
    case 'stage-cancelled':
      progress.set(`${event.iteration}/${event.stage}`, AFTER[event.kind]);
      break;
    case 'step-started':
    case 'step-retried':
    case 'step-completed':
    case 'step-failed': {
      const { iteration, stage, step, lane } = event;
      progress.set(`${iteration}/${stage}/${step}/${lane}`, AFTER[event.kind]);
      break;
    }
  }
}

const AFTER = {
  'stage-started': 'running',
  'stage-retried': 'running',
  'stage-completed': 'completed',
  'stage-failed': 'failed',
  'stage-cancelled': 'cancelled',
  'step-started': 'running',
  'step-retried': 'running',
  'step-completed': 'completed',
  'step-failed': 'failed',
} as const;

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
