import { claimFolder } from '../documents/owned-folder.ts';
import { DialecticError } from '../errors/errors.ts';
import { createHandlers } from '../handlers/create-handlers.ts';
import { providerLimits } from '../handlers/provider-limits.ts';
import { Worker } from '../jobs/worker.ts';
import type { ModelsConfig } from '../models/config.ts';
import { createModelProvider } from '../models/provider.ts';
import type { RunResult } from '../session/summary.ts';
import { writeFolder } from '../session/write-folder.ts';
import { readJobConfiguration } from './configuration.ts';
import { namingSession } from './name-session.ts';
import type { OpenStore } from './store.ts';
import { viewOf, watchRun } from './watch-run.ts';

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
export function driveSession(store: OpenStore, options: DriveOptions): Promise<RunResult> {
  const { sessionId } = options;
  const advice = `Go on with: dialectic resume ${sessionId}`;
  return namingSession(sessionId, advice, () => drive(store, options));
}

async function drive(store: OpenStore, options: DriveOptions): Promise<RunResult> {
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
  const onStageEnd = async (): Promise<void> => {
    if (out) await writeFolder(database, store.tenantId, sessionId, out);
  };
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  await worker.start();
  try {
    await watchRun({ store, sessionId, onStageEnd }, stop.signal);
  } finally {
    await finish(worker, stop.signal);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
  const result = await writeFolder(database, store.tenantId, sessionId, out);
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
