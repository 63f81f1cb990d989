import type { Dialectic } from '../api/dialectic.ts';
import type { WorkOnReplayOptions } from '../api/replay-run.ts';
import type { WorkEvent, WorkOptions } from '../api/work-on-run.ts';
import { sleep } from '../platform/clock.ts';
import type { RunResult } from '../session/summary.ts';
import { quoteWord } from '../text/quote-word.ts';
import type { Terminal } from './ask-questions.ts';
import { leaveRun } from './leave-run.ts';
import { namingSession } from './name-session.ts';
import { showRun } from './screen/show-run.ts';

type DriveOptions = {
  readonly out?: string | undefined;
  readonly concurrency: number;
  /** The file that tells where the time went. */
  readonly trace?: string | undefined;
  /** Where a person can be asked whether to stop other workers too; null where nobody can. */
  readonly terminal?: Terminal | null;
};

/** What Ctrl-C does: once nothing new starts, twice the calls under way are cut off. */
type Stops = Required<Pick<WorkOptions, 'signal' | 'finishCalls' | 'cutOff'>>;

/** Calls that were cut off end at once, but those of another process may go on. */
const CUT_MS = 3_000;

/**
 * Works on a session in this process until it rests: done, failed, waiting for a person, paused or
 * stopped by Ctrl-C. Shows meanwhile where it stands.
 */
export const driveRun = (
  dialectic: Dialectic,
  session: string,
  { terminal = null, ...options }: DriveOptions,
): Promise<RunResult> =>
  drive(dialectic, session, terminal, (stops) => dialectic.work(session, { ...options, ...stops }));

/** The same for a replay, which goes on to where the recorded run ended. */
export const driveReplay = (
  dialectic: Dialectic,
  session: string,
  options: WorkOnReplayOptions,
): Promise<RunResult> =>
  drive(dialectic, session, null, ({ signal }) =>
    dialectic.workOnReplay(session, { ...options, signal }),
  );

function drive(
  dialectic: Dialectic,
  sessionId: string,
  terminal: Terminal | null,
  work: (stops: Stops) => AsyncIterable<WorkEvent>,
): Promise<RunResult> {
  const advice = `Go on with: dialectic resume ${quoteWord(sessionId)}`;
  return namingSession(sessionId, advice, async () => {
    const [stop, cut] = [new AbortController(), new AbortController()];
    const onInterrupt = (): void => (stop.signal.aborted ? cut : stop).abort();
    const onTerminate = (): void => void [stop, cut].map((one) => one.abort());
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate);
    let seen: string | null = null;
    const stops = { signal: stop.signal, finishCalls: true, cutOff: cut.signal };
    const events = noteCursor(work(stops), (cursor) => {
      // What is read after Ctrl-C happened to the calls that were under way then.
      if (!stop.signal.aborted) seen = cursor;
    });
    try {
      const result = await showRun(dialectic, sessionId, endWith(events, untilCut(cut.signal)));
      const isLeft = stop.signal.aborted && (result?.status ?? 'running') === 'running';
      if (isLeft && !result?.gates.length)
        throw await leaveRun(dialectic, sessionId, seen, terminal);
      return result ?? (await dialectic.result(sessionId));
    } finally {
      process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate);
    }
  });
}

/** Tells how far the log was read: what comes after it happened while the run was left. */
async function* noteCursor(
  events: AsyncIterable<WorkEvent>,
  note: (cursor: string | null) => void,
): AsyncGenerator<WorkEvent, void, void> {
  for await (const event of events) {
    if (event.kind === 'caught-up') note(event.cursor);
    yield event;
  }
}

/** The events until the promise resolves, whether or not another one is waited for. */
async function* endWith<Event>(
  events: AsyncGenerator<Event, void, void>,
  end: Promise<undefined>,
): AsyncGenerator<Event, void, void> {
  for (;;) {
    const next = await Promise.race([events.next(), end]);
    if (next === undefined || next.done) return;
    yield next.value;
  }
}

/** Resolves some seconds after the calls were cut off. */
async function untilCut(signal: AbortSignal): Promise<undefined> {
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await sleep(CUT_MS);
}
