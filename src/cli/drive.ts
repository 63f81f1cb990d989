import type { Dialectic } from '../api/dialectic.ts';
import type { WorkOnReplayOptions } from '../api/replay-run.ts';
import type { WorkEvent } from '../api/work-on-run.ts';
import { DialecticError } from '../errors/errors.ts';
import type { RunResult } from '../session/summary.ts';
import { namingSession } from './name-session.ts';
import { showRun } from './screen/show-run.ts';

type DriveOptions = { readonly out?: string | undefined; readonly concurrency: number };

/**
 * Works on a session in this process until it rests: done, failed, waiting for a person, paused or
 * stopped by Ctrl-C. Shows meanwhile where it stands.
 */
export const driveRun = (
  dialectic: Dialectic,
  session: string,
  options: DriveOptions,
): Promise<RunResult> =>
  drive(dialectic, session, (signal) => dialectic.work(session, { ...options, signal }));

/** The same for a replay, which goes on to where the recorded run ended. */
export const driveReplay = (
  dialectic: Dialectic,
  session: string,
  options: WorkOnReplayOptions,
): Promise<RunResult> =>
  drive(dialectic, session, (signal) => dialectic.workOnReplay(session, { ...options, signal }));

function drive(
  dialectic: Dialectic,
  sessionId: string,
  work: (signal: AbortSignal) => AsyncIterable<WorkEvent>,
): Promise<RunResult> {
  const advice = `Go on with: dialectic resume ${sessionId}`;
  return namingSession(sessionId, advice, async () => {
    const stop = new AbortController();
    const onSignal = (): void => stop.abort();
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    try {
      const result = await showRun(dialectic, sessionId, work(stop.signal));
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
