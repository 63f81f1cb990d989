import { createHandlers } from '../handlers/create-handlers.ts';
import { providerLimits } from '../handlers/provider-limits.ts';
import { type EndedJob, Worker, type WorkerOptions } from '../jobs/worker.ts';
import { createModelProvider } from '../models/provider.ts';
import { nextTurn, type Slices } from '../platform/clock.ts';
import type { Trace } from '../platform/trace.ts';
import { findReadingOrders } from '../recipe/reading-order.ts';
import { EventNudge, readToEnd } from '../session/events.ts';
import { readSession } from '../session/read.ts';
import type { RunResult } from '../session/summary.ts';
import { takeFolder, updateFolder } from '../session/write-folder.ts';
import { BackgroundWrites, type Load } from './background-writes.ts';
import { type FolderEvent, FolderOfRun } from './folder-of-run.ts';
import { followRun, type RunEvent, type WatchOptions } from './follow-run.ts';
import { ModelWaits } from './model-waits.ts';
import type { Store } from './store.ts';
import { resumeSettings, storeMetrics } from './store-metrics.ts';
import { type TraceEvent, traceTo } from './trace-to.ts';

/** What the process that works on a run hears beside its events. */
export type WorkEvent =
  | RunEvent
  /** Nothing new starts, and these calls under way are waited for. */
  | { readonly kind: 'calls-finishing'; readonly calls: number }
  /** The folder of the session could not be written; the run goes on, and the store keeps all. */
  | FolderEvent
  | TraceEvent
  /** The last one: nothing of the run is under way in this process any more. */
  | { readonly kind: 'run-rested'; readonly result: RunResult };

export type WorkOptions = WatchOptions & {
  /** The folder to write from now on; the one that the session remembers where absent. */
  readonly out?: string | undefined;
  /** How many calls are made at a time; 4 where absent. */
  readonly concurrency?: number | undefined;
  /**
   * Whether the signal lets calls under way finish, which are paid for; else they have a second, and
   * what they have written by then is kept.
   */
  readonly finishCalls?: boolean | undefined;
  /** Cuts calls off that are waited for. */
  readonly cutOff?: AbortSignal | undefined;
  /** The file that tells where the time went, in the Chrome trace format; none where absent. */
  readonly trace?: string | undefined;
};

const STOP_MS = 1_000;
const LONGEST_CALL_MS = 3_600_000;
const NEVER = new AbortController().signal;

/** A worker for one session, or for all of the store where none is named. */
export function createWorker(
  { database, models: config, jobs: settings, search, likeness, log }: Store,
  concurrency: number,
  waits: ModelWaits,
  more: Pick<WorkerOptions, 'session' | 'onEnded' | 'trace'>,
): Worker {
  const provider = waits.countCalls(createModelProvider(config));
  return new Worker({
    database,
    handlers: createHandlers({ database, provider, config, search, likeness, trace: more.trace }),
    concurrency,
    settings,
    limits: providerLimits(config),
    log,
    ...more,
  });
}

/** How busy the process is that a worker is in. */
export const loadOf = (worker: Worker, waits: ModelWaits): Load => ({
  isWaiting: () => waits.underWay >= worker.running,
  quietForMs: () => waits.quietForMs,
});

/** Works on a session in this process and yields what happens, until the session rests. */
export async function* workOnRun(
  store: Store,
  sessionId: string,
  {
    out,
    concurrency = 4,
    after,
    signal = NEVER,
    finishCalls = false,
    cutOff,
    ...rest
  }: WorkOptions,
): AsyncGenerator<WorkEvent, void, void> {
  const { database, tenantId } = store;
  if (out !== undefined) await takeFolder(database, tenantId, sessionId, out);
  const session = await database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
  const update = (slices?: Slices): Promise<RunResult> =>
    updateFolder(database, tenantId, sessionId, slices);
  const folder = new FolderOfRun(update);
  const tracing = traceTo(database, rest.trace);
  const { worker, load, nudge } = createRunWorker(store, sessionId, concurrency, tracing.trace);
  const writes = new BackgroundWrites<FolderEvent>(load);
  await resumeSettings(store);
  const forget = leaveAt(signal, worker);
  await worker.start();
  // When the worker has asked for its first jobs: the store takes some milliseconds to find them.
  void nextTurn().then(() => findReadingOrders(session.process));
  // Until the session rests or fails, leaving the loop means that the caller wants to stop.
  let isLeft = true;
  // Then the folder is written once more, below.
  let isOver = false;
  let cursor = after ?? null;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    isLeft ? worker.stop(STOP_MS) : finishThenStop(worker, signal, cutOff);
  const own = { nudge, readsEnd: true };
  try {
    for await (const event of followRun(store, sessionId, { after, signal }, own)) {
      if (event.kind === 'caught-up') cursor = event.cursor;
      yield event;
      if (session.folder !== null) yield* writeMeanwhile(folder, writes, event.kind);
    }
    isLeft = signal.aborted && !finishCalls;
    if (!isLeft && worker.running > 0) {
      yield { kind: 'calls-finishing', calls: worker.running };
      const ended = new AbortController();
      stopping = stop().finally(() => ended.abort());
      const rest = { after: cursor, signal: ended.signal };
      for await (const event of followRun(store, sessionId, rest, { readsEnd: true })) {
        if (event.kind === 'caught-up') cursor = event.cursor;
        yield event;
      }
    }
    isOver = true;
  } catch (thrown) {
    isLeft = false;
    throw thrown;
  } finally {
    forget();
    await Promise.all([writes.end({ isRepeated: isOver }), stopping ?? stop()]);
  }
  // Before anything is told: who then leaves the loop finds the folder whole.
  const result = await update();
  yield* readRest(store, sessionId, cursor);
  yield* writes.take();
  yield* folder.tell(result);
  await storeMetrics(store);
  yield* await tracing.end();
  yield { kind: 'run-rested', result };
}

/**
 * Lets the worker leave its session at the signal itself: a busy store can keep the reader of events
 * from seeing it for seconds, and whoever counts the workers meanwhile must not count this one.
 */
function leaveAt(signal: AbortSignal, worker: Worker): () => void {
  const leave = (): void => worker.leave();
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return () => signal.removeEventListener('abort', leave);
}

/** Calls under way are paid for: unless the caller cuts them off, they finish and are saved. */
function finishThenStop(worker: Worker, signal: AbortSignal, cutOff?: AbortSignal): Promise<void> {
  const impatience = [...(signal.aborted ? [] : [signal]), ...(cutOff ? [cutOff] : [])];
  return worker.stop(LONGEST_CALL_MS, AbortSignal.any(impatience));
}

/** Notes an event, lets what is due be written beside the jobs, and tells what came of it. */
function writeMeanwhile(
  folder: FolderOfRun,
  writes: BackgroundWrites<FolderEvent>,
  kind: RunEvent['kind'],
): FolderEvent[] {
  folder.note(kind);
  if (kind === 'caught-up' && folder.isDue) writes.start((slices) => folder.writeBehind(slices));
  return writes.take();
}

/** The worker of one session, how busy it is, and what makes a reader of its events look at once. */
function createRunWorker(
  store: Store,
  sessionId: string,
  concurrency: number,
  trace: Trace | undefined,
) {
  const session = { tenantId: store.tenantId, sessionId };
  const waits = new ModelWaits();
  const nudge = new EventNudge();
  // The end of a stage may be that of the run, which the caller waits for.
  const onEnded = ({ job, isLast }: EndedJob): void => {
    if (job.role === 'stage' && isLast) nudge.now();
  };
  const worker = createWorker(store, concurrency, waits, { session, onEnded, trace });
  return { worker, nudge, load: loadOf(worker, waits) };
}

/** What the log says of the end: calls that were finished or cut off, and jobs that were handed back. */
async function* readRest(
  { database, tenantId }: Store,
  sessionId: string,
  cursor: string | null,
): AsyncGenerator<RunEvent, void, void> {
  let known = cursor;
  for await (const page of readToEnd(database, { tenantId, sessionId, after: cursor })) {
    yield* page.events;
    if (page.cursor === known) continue;
    known = page.cursor;
    yield { kind: 'caught-up', cursor: known };
  }
}
