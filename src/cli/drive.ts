import { type Dialectic, LocalDialectic } from '../api/dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import type { ModelsConfig } from '../models/config.ts';
import type { RunResult } from '../session/summary.ts';
import { readJobConfiguration } from './configuration.ts';
import { namingSession } from './name-session.ts';
import { tell } from './output.ts';
import { showRun } from './screen/show-run.ts';
import type { OpenStore } from './store.ts';

type DriveOptions = { readonly out: string | undefined; readonly concurrency: number };

/**
 * Works on a session in this process until it rests: done, failed, waiting for a person, paused or
 * stopped by Ctrl-C. Shows meanwhile where it stands.
 */
export function driveRun(
  dialectic: Dialectic,
  sessionId: string,
  options: DriveOptions,
): Promise<RunResult> {
  const advice = `Go on with: dialectic resume ${sessionId}`;
  return namingSession(sessionId, advice, async () => {
    const stop = new AbortController();
    const onSignal = (): void => stop.abort();
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    try {
      const work = dialectic.work(sessionId, { ...options, signal: stop.signal });
      const result = await showRun(dialectic, sessionId, work);
      if (stop.signal.aborted && result?.status === 'running') throw stopped(sessionId);
      return result ?? (await dialectic.result(sessionId));
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    }
  });
}

const stopped = (session: string): DialecticError =>
  new DialecticError('run_stopped', `Stopped. Go on with: dialectic resume ${session}`, {
    details: { session },
  });

/** The same for a command that has opened the store, and knows the providers, by itself. */
export function driveSession(
  store: OpenStore,
  {
    sessionId,
    config,
    ...options
  }: DriveOptions & { readonly sessionId: string; readonly config: ModelsConfig },
): Promise<RunResult> {
  const jobs = readJobConfiguration();
  const dialectic = new LocalDialectic({ ...store, models: config, jobs, log: tell });
  return driveRun(dialectic, sessionId, options);
}
