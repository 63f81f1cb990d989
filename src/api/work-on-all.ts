import type { EndedJob } from '../jobs/worker.ts';
import { elapsedMs, every } from '../platform/clock.ts';
import { type FolderNews, FoldersOfAll } from './folders-of-all.ts';
import type { RunEvent } from './follow-run.ts';
import { ModelWaits } from './model-waits.ts';
import { requireOpen, type Store } from './store.ts';
import { resumeSettings, storeMetrics } from './store-metrics.ts';
import { type TraceEvent, traceTo } from './trace-to.ts';
import { createWorker, loadOf } from './work-on-run.ts';

/** What a worker for all sessions tells. */
export type WorkerEvent =
  | {
      readonly kind: 'job-ended';
      readonly session: string;
      readonly type: string;
      /** The step that it belongs to; null for the jobs of stages and lanes. */
      readonly step: string | null;
      /** The participant's lane, by id. */
      readonly lane: string | null;
      readonly ms: number;
      /** Why it did not succeed; null = it did. */
      readonly error: { readonly code: string; readonly message: string } | null;
    }
  | FolderNews
  | Extract<RunEvent, { readonly kind: 'store-away' | 'store-back' }>
  | TraceEvent;

/** A worker may run for days: what it measures is stored so often. */
const STORE_METRICS_MS = 60_000;
/** Documents that wait to be written are looked for this often. */
const LOOK_MS = 1_000;

export type WorkOnAllOptions = {
  readonly signal: AbortSignal;
  /** How many jobs run at a time; 10 where absent. */
  readonly concurrency?: number | undefined;
  /** The file that tells where the time went, in the Chrome trace format; none where absent. */
  readonly trace?: string | undefined;
};

/**
 * Works on every session of the store until the signal, yields each job that ends, and keeps the
 * folders of their sessions up to date as far as they are on this machine.
 */
export async function* workOnAll(
  store: Store,
  { signal: caller, concurrency = 10, trace: file }: WorkOnAllOptions,
): AsyncGenerator<WorkerEvent, void, void> {
  const signal = AbortSignal.any([caller, store.closing]);
  let ended: EndedJob[] = [];
  let news = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => news.resolve(), { once: true });
  // Jobs do not wait for whoever listens.
  const onEnded = (one: EndedJob): void => {
    ended.push(one);
    news.resolve();
  };
  const tracing = traceTo(store.database, file);
  const waits = new ModelWaits();
  const worker = createWorker(store, concurrency, waits, { onEnded, trace: tracing.trace });
  const folders = new FoldersOfAll(store, loadOf(worker, waits));
  const looks = every(LOOK_MS, () => {
    if (folders.isBehind) news.resolve();
  });
  await resumeSettings(store);
  let storedMs = elapsedMs();
  await worker.start();
  // Who leaves the loop or closes the store gets no last write of the folders.
  let isOver = false;
  let isWrittenAgain = false;
  try {
    while (!signal.aborted) {
      await news.promise;
      news = Promise.withResolvers();
      const told = ended;
      ended = [];
      yield* told.map(toEvent);
      yield* folders.hear(told);
      if (elapsedMs() - storedMs < STORE_METRICS_MS) continue;
      storedMs = elapsedMs();
      await storeMetrics(store);
    }
    isOver = true;
  } finally {
    looks.stop();
    await worker.stop();
    isWrittenAgain = isOver && !store.closing.aborted;
    await folders.stop({ isRepeated: isWrittenAgain });
  }
  // Before anything is told: who then leaves the loop finds the folders whole.
  const written = isWrittenAgain ? await folders.finish(ended) : [];
  yield* ended.map(toEvent);
  yield* folders.take();
  yield* written;
  if (!store.closing.aborted) await storeMetrics(store);
  yield* await tracing.end();
  if (!caller.aborted) requireOpen(store);
}

function toEvent({ job, ms, error }: EndedJob): WorkerEvent {
  const { sessionId: session, type, stepKey: step, laneId: lane } = job;
  const why = error && { code: error.code, message: error.message };
  return { kind: 'job-ended', session, type, step, lane, ms: Math.round(ms), error: why };
}
