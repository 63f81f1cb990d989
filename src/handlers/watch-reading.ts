import type { Reading } from '../context/rank-texts.ts';
import { appendEvents, type NewEvent } from '../db/events.ts';
import type { Transaction } from '../db/transaction.ts';
import type { JobContext } from '../jobs/context.ts';
import { SetAside } from '../jobs/set-aside.ts';
import type { Job } from '../jobs/types.ts';
import { elapsedMs, every } from '../platform/clock.ts';
import { countNoun } from '../text/count-noun.ts';
import type { HandlerDeps } from './handler-deps.ts';
import type { Loaded } from './load.ts';

/** How often the session's gates are looked at, and how often progress is told. */
const LOOK_MS = 400;
const TELL_MS = 1_000;
const LONGEST_TITLE = 80;

/** What is read, for whom. */
type Subject = Pick<Loaded, 'session' | 'planned'> & {
  /** The titles of the texts. */
  readonly titles: readonly string[];
};

/**
 * Reads texts for a prompt, which may take a minute: tells how far it is as `parts-read` events, and
 * ends it when the worker stops, the job is cancelled or the session is paused. Nothing is paid
 * meanwhile, so that the job can simply be put back.
 */
export async function watchReading<T>(
  { database }: Pick<HandlerDeps, 'database'>,
  { job, signal, stopping }: Pick<JobContext, 'job' | 'signal' | 'stopping'>,
  { session, planned, titles }: Subject,
  read: (reading: Reading) => Promise<T>,
): Promise<T> {
  const paused = new AbortController();
  const ended = AbortSignal.any([signal, stopping, paused.signal]);
  const lane = session.lanes.find(({ id }) => id === planned.laneId);
  const place = {
    stage: planned.stage,
    iteration: planned.iteration,
    laneId: planned.laneId,
    lane: lane?.ordinal ?? null,
    model: lane?.model ?? null,
    step: planned.step,
    jobId: job.id,
    title: nameTexts(titles),
  };
  const progress = new Progress();
  const look = async (): Promise<void> => {
    const payload = progress.take();
    const isOpen = await database.asTenant(job.tenantId, async (tx) => {
      if (payload) await tell(tx, job, { ...place, ...payload });
      const [row] = await tx.query<{ open: boolean }>(
        `select status = 'running' and gates = '{}' as open from sessions where id = $1`,
        [job.sessionId],
        'read-gates',
      );
      // The jobs of a session that was erased have lost their leases, and abort by those.
      return row?.open ?? true;
    });
    if (!isOpen) paused.abort(new SetAside('The session is paused.'));
  };
  let looking: Promise<void> | undefined;
  const timer = every(LOOK_MS, () => {
    // Where the store is away the reading itself will fail.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
  });
  try {
    const outcome = await read({
      signal: ended,
      onParts: (done, all) => progress.note(done, all),
    });
    progress.finish();
    return outcome;
  } catch (thrown) {
    if (signal.aborted || !ended.aborted) throw thrown;
    throw new SetAside('The job is put back before anything was asked.', { cause: thrown });
  } finally {
    timer.stop();
    await looking;
    const last = progress.end;
    if (last) {
      const told = database.asTenant(job.tenantId, (tx) => tell(tx, job, { ...place, ...last }));
      await told.catch(() => undefined);
    }
  }
}

type Parts = { readonly done: number; readonly all: number };

/** How far a reading is, as it is told: not in the first second, and then every second. */
class Progress {
  #parts: Parts | undefined;
  #toldMs = elapsedMs();
  #isTold = false;
  #isOver = false;

  note(done: number, all: number): void {
    this.#parts = { done, all };
  }

  /** What is to be told now, if anything. */
  take(): Parts | undefined {
    if (this.#parts === undefined || elapsedMs() - this.#toldMs < TELL_MS) return undefined;
    this.#toldMs = elapsedMs();
    this.#isTold = true;
    return this.#parts;
  }

  finish(): void {
    this.#isOver = true;
  }

  /** That the reading is over, where it was told that it goes on. */
  get end(): Parts | undefined {
    const isNews = this.#isTold && this.#isOver && this.#parts !== undefined;
    return isNews ? { done: this.#parts!.all, all: this.#parts!.all } : undefined;
  }
}

const tell = (tx: Transaction, { sessionId }: Job, payload: NewEvent['payload']): Promise<void> =>
  appendEvents(tx, [{ topic: `session/${sessionId}`, kind: 'parts-read', payload: payload ?? {} }]);

/** "Bread in numbers", or "Bread in numbers and 9 other texts". */
function nameTexts([first = '', ...others]: readonly string[]): string {
  const title = first.replace(/\s+/g, ' ').slice(0, LONGEST_TITLE);
  const more = countNoun(others.length, 'other text');
  return others.length === 0 ? title : `${title} and ${more}`;
}
