import { createHandlers } from '../generation/handlers.ts';
import { providerLimits } from '../generation/provider-limits.ts';
import { Worker } from '../jobs/worker.ts';
import type { ModelsConfig } from '../models/config.ts';
import { createModelProvider } from '../models/provider.ts';
import { now } from '../platform/clock.ts';
import { DialecticError } from '../platform/errors.ts';
import { watchSession } from '../session/events.ts';
import { exportSession } from '../session/export.ts';
import { readSession, type SessionView } from '../session/read.ts';
import { NO_EVENTS, reduceSession, type SessionState } from '../session/session-state.ts';
import { type RunResult, summarise } from '../session/summary.ts';
import { readJobConfiguration } from './configuration.ts';
import { describeWaits } from './describe-waits.ts';
import { claimFolder, writeOwned } from './owned-folder.ts';
import { Progress } from './progress.ts';
import type { OpenStore } from './store.ts';

export type DriveOptions = {
  readonly sessionId: string;
  readonly out: string | undefined;
  readonly concurrency: number;
  readonly config: ModelsConfig;
};

/**
 * Works on a session in this process until it rests: done, failed, waiting for a person, paused or
 * stopped by Ctrl-C. The folder is written whenever a stage has ended.
 */
export async function driveSession(store: OpenStore, options: DriveOptions): Promise<RunResult> {
  const { database } = store;
  const { config, concurrency, sessionId, out } = options;
  // From now on, what others put into the folder meanwhile does not stop the run.
  if (out) await claimFolder(out, (await viewOf(store, sessionId)).projectId);
  const provider = createModelProvider(config);
  const handlers = createHandlers({ database, provider, config });
  const worker = new Worker({
    database,
    handlers,
    concurrency,
    session: { tenantId: store.tenantId, sessionId },
    settings: readJobConfiguration(),
    limits: providerLimits(config),
  });
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  await worker.start();
  try {
    await watch(store, options, stop.signal);
  } finally {
    await finish(worker, stop.signal);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
  const result = await writeFolder(store, sessionId, out);
  if (stop.signal.aborted && result.status === 'running') {
    throw new DialecticError('run_stopped', `Stopped. Go on with: dialectic resume ${sessionId}`, {
      details: { session: sessionId },
    });
  }
  return result;
}

/** Calls under way are paid for: unless the user cuts them off, they finish and are saved. */
async function finish(worker: Worker, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return worker.stop(STOP_MS);
  if (worker.running > 0) {
    process.stderr.write('Waiting for the calls under way; Ctrl-C cuts them off.\n');
  }
  await worker.stop(LONGEST_CALL_MS, stopped);
}

const STOP_MS = 1_000;
const LONGEST_CALL_MS = 3_600_000;

/**
 * Follows the session's event log: shows where the run stands, writes the folder after each stage, and
 * returns when the session rests.
 */
async function watch(store: OpenStore, options: DriveOptions, stop: AbortSignal): Promise<void> {
  const { database, tenantId } = store;
  const { sessionId, out } = options;
  const progress = new Progress(await viewOf(store, sessionId));
  let state = NO_EVENTS;
  let written = 0;
  let isNews = false;
  const log = watchSession(database, { tenantId, sessionId, after: null }, stop);
  for await (const { events, isLast } of log) {
    state = reduceSession(state, events);
    // Before the last page of the past, the state is one that the session has left behind.
    isNews ||= isLast;
    if (!isNews) continue;
    progress.draw(state);
    for (const line of describeWaits(events, now())) progress.tell(line);
    if (out && state.stageEnds > written) await writeFolder(store, sessionId, out);
    written = state.stageEnds;
    // The log may lag behind (another transaction hides the event of a resume, say): ask the row.
    if (!isRunning(state) && !isRunning(await viewOf(store, sessionId))) return;
  }
}

const isRunning = ({ status, gates }: Pick<SessionView | SessionState, 'status' | 'gates'>) =>
  status === 'running' && [...gates].length === 0;

const viewOf = ({ database, tenantId }: OpenStore, sessionId: string): Promise<SessionView> =>
  database.asTenant(tenantId, (tx) => readSession(tx, tenantId, sessionId));

/** Writes what there is so far; files of an earlier export are replaced, and taken away if gone. */
export async function writeFolder(
  { database, tenantId }: OpenStore,
  sessionId: string,
  out: string | undefined,
): Promise<RunResult> {
  const { files, result, projectId } = await database.asTenant(tenantId, async (tx) => {
    const session = await readSession(tx, tenantId, sessionId);
    const exported = await exportSession(tx, session);
    const summary = await summarise(tx, session, exported, out);
    return { files: exported.files, result: summary, projectId: session.projectId };
  });
  if (out) await writeOwned(out, projectId, files);
  return result;
}
