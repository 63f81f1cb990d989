import type { Database } from '../db/database.ts';
import type { Presence } from '../db/driver.ts';
import { EVENTS_CHANNEL } from '../db/events.ts';
import { type DialecticError, messageOf, toDialecticError } from '../errors/errors.ts';
import { AWAKE, elapsedMs, every, nextTurn, sleep } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import { type Log, logToStderr } from '../platform/log.ts';
import { type Trace, timed } from '../platform/trace.ts';
import { CompletionBatch } from './completion-batch.ts';
import { type Effects, type JobHandlers, leaseLost } from './context.ts';
import { JOBS_CHANNEL } from './enqueue.ts';
import { recordFailure } from './failure.ts';
import { LeaseKeeper } from './leases.ts';
import { type ConcurrencyLimits, writeLimits } from './limits.ts';
import {
  type ClaimedJob,
  claimJobs,
  handBack,
  requeueAll,
  type SessionKey,
  type Sweep,
} from './queries.ts';
import { commitPersistently } from './retry-commit.ts';
import { DEFAULT_JOB_SETTINGS, type JobSettings } from './settings.ts';
import type { Job } from './types.ts';
import { workplaceOf } from './workplaces.ts';

export type WorkerOptions = {
  readonly database: Database;
  readonly handlers: JobHandlers;
  /** Works on this session alone; on every one that may run if absent. */
  readonly session?: SessionKey;
  /** How many jobs run at once in this process. */
  readonly concurrency?: number;
  /** How many jobs one claim takes at most. */
  readonly batch?: number;
  readonly leaseMs?: number;
  /** How often to look for work without a hint; polling is the truth, hints only make it faster. */
  readonly pollMs?: number;
  /** Attempts, back-off and takeovers; the defaults where absent. */
  readonly settings?: JobSettings;
  /** Limits by concurrency key that hold over all workers, written at the start if given. */
  readonly limits?: ConcurrencyLimits;
  readonly log?: Log;
  /** Hears of every job that this worker has ended, well or not. */
  readonly onEnded?: (ended: EndedJob) => void;
  /** Notes when jobs were due, claimed, run and committed. */
  readonly trace?: Trace | undefined;
};

/** A job that a worker has ended, how long it took, and why it failed; null = it did not. */
export type EndedJob = {
  readonly job: Job;
  readonly ms: number;
  readonly error: DialecticError | null;
  /** Whether the worker runs no other at this moment. */
  readonly isLast: boolean;
};

/**
 * After a break every worker of a server needs a moment to take its lock again and to extend its
 * leases, so for that long nothing is taken over.
 */
const TRUST_AFTER_MS = 3_000;
/** A hint costs its receivers as much as its sender; a person who watches sees no difference. */
const HINT_EVERY_MS = 50;
/**
 * What the end of a job without effects sets free this worker looks for itself, and what it takes with
 * a commit nobody else can: the hint of these comes when their requests have left.
 */
const HINT_OF_ENDS_AFTER_MS = 100;
const HINT_OF_TAKEN_AFTER_MS = 30;
/** Other sessions hear within HINT_EVERY_MS of a slot that they wait for, and then claim before it. */
const GIVE_WAY_MS = 60;
/** Looking for the jobs of dead workers costs as much as a claim, so not every claim does it. */
const SWEEP_EVERY_MS = 500;

/** Databases whose left-over jobs this process has taken back already. */
const recovered = new WeakSet<Database>();

/** Claims jobs, runs their handlers and settles them, until it is stopped. */
export class Worker {
  readonly id = newId();
  readonly #options: Required<
    Omit<WorkerOptions, 'handlers' | 'database' | 'session' | 'limits' | 'trace'>
  >;
  readonly #session: SessionKey | undefined;
  readonly #limits: ConcurrencyLimits | undefined;
  readonly #trace: Trace | undefined;
  readonly #database: Database;
  readonly #handlers: JobHandlers;
  readonly #leases: LeaseKeeper;
  readonly #batch: CompletionBatch;
  readonly #cleanups: (() => Promise<void> | void)[] = [];
  #presence: Presence | undefined;
  #wake: () => void = () => {};
  #woken = false;
  /** Whether it may find more work as soon as one of its jobs ends. */
  #isFull = false;
  /** Slots that are kept for what claims under way bring. */
  #promised = 0;
  /** Whether other sessions may take the slots of a limit first. */
  #givesWay = false;
  #isHinting = false;
  #hasNews = false;
  #willTell = false;
  readonly #stop = new AbortController();
  #lastFault = '';
  #sweptAt = -Infinity;
  #loop: Promise<void> | undefined;
  #leaving: Promise<void> | undefined;

  constructor({ database, handlers, session, limits, trace, ...rest }: WorkerOptions) {
    const defaults = {
      onEnded: () => {},
      concurrency: 10,
      batch: 50,
      leaseMs: 30_000,
      pollMs: 1_000,
      log: logToStderr,
      settings: DEFAULT_JOB_SETTINGS,
    };
    this.#options = { ...defaults, ...rest };
    this.#database = database;
    this.#handlers = handlers;
    this.#session = session;
    this.#limits = limits;
    this.#trace = trace;
    this.#leases = new LeaseKeeper(database, this.id, this.#options.leaseMs);
    this.#batch = new CompletionBatch(database, (lost) => {
      for (const job of lost) this.#options.log(leaseLost(job).message);
      this.#announceEnds();
    });
  }

  /** Takes back what a dead process left on an embedded database, and begins to work. */
  async start(): Promise<void> {
    if (this.#limits) await writeLimits(this.#database, this.#limits);
    const place = workplaceOf(this.#session?.sessionId);
    this.#presence = await this.#database.driver.announce(this.id, place);
    if (this.#stop.signal.aborted) this.leave();
    try {
      await this.#begin();
    } catch (thrown) {
      await this.#presence.end();
      throw thrown;
    }
  }

  async #begin(): Promise<void> {
    if (this.#database.driver.kind === 'embedded' && !recovered.has(this.#database)) {
      recovered.add(this.#database);
      await requeueAll(this.#database, this.#options.settings);
    }
    const stopListening = await this.#database.driver.listen(JOBS_CHANNEL, (payload) => {
      if (payload === 'cancelled') void this.#leases.extend().catch(() => {});
      // It has looked already when it gave the hint.
      if (payload !== this.id) this.#look();
    });
    const heartbeat = every(this.#options.leaseMs / 3, () => {
      void this.#leases.renew();
    });
    this.#cleanups.push(stopListening, () => heartbeat.stop());
    this.#loop = this.#run();
  }

  /** How many jobs it runs at this moment. */
  get running(): number {
    return this.#leases.size;
  }

  /** Claims nothing more and is counted no longer as a worker of its session; its jobs go on. */
  leave(): void {
    this.#stop.abort();
    this.#leaving ??= this.#presence?.leavePlace();
    this.#look();
  }

  /**
   * Stops claiming, lets jobs finish for a while or until the signal, then aborts them and hands them
   * back.
   */
  async stop(graceMs = 5_000, impatience?: AbortSignal): Promise<void> {
    const ended = new AbortController();
    void this.#database.driver.cutIfSilent(ended.signal);
    this.leave(); // before its last jobs end, which may take a while
    await this.#loop;
    await this.#leases.untilIdle(graceMs, impatience);
    const unfinished = this.#leases.abortAll();
    await this.#leases.untilIdle(1_000);
    await this.#batch.drain();
    if (unfinished.length > 0) await handBack(this.#database, unfinished).catch(() => {});
    for (const cleanup of this.#cleanups) await cleanup();
    await this.#leaving;
    await this.#presence?.end();
    ended.abort();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#woken = false;
      const room = this.#free();
      this.#promised += room;
      const jobs =
        room > 0 ? await timed(this.#trace, 'claim', this.id, () => this.#claim(room)) : [];
      this.#promised -= room;
      for (const job of jobs) void this.#execute(job);
      // A full batch means that there is more; otherwise wait for a hint, a free slot or the poll.
      this.#isFull = room <= 0;
      if (jobs.length < room || room <= 0) await this.#rest();
      else await nextTurn();
    }
  }

  /** How many jobs it has a slot for, at most as many as one claim takes. */
  #free(): number {
    const { concurrency, batch } = this.#options;
    return Math.max(0, Math.min(concurrency - this.#leases.size - this.#promised, batch));
  }

  async #claim(room: number): Promise<ClaimedJob[]> {
    try {
      const { leaseMs, settings } = this.#options;
      const only = this.#session;
      const sweep = this.#sweep();
      const jobs = await claimJobs(this.#database, this.id, room, leaseMs, sweep, only, settings);
      this.#lastFault = '';
      return jobs;
    } catch (error) {
      this.#tellOnce(messageOf(error));
      await this.#database.driver.untilWritable(this.#stop.signal);
      await sleep(500, this.#stop.signal);
      return [];
    }
  }

  /** A store may be away for hours, and is asked twice a second. */
  #tellOnce(fault: string): void {
    const whose = this.#session ? ` of session ${this.#session.sessionId}` : '';
    if (fault !== this.#lastFault) this.#options.log(`cannot claim jobs${whose}: ${fault}`);
    this.#lastFault = fault;
  }

  #sweep(): Sweep {
    const now = elapsedMs();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return 'nothing';
    this.#sweptAt = now;
    if (!this.#presence || this.#database.driver.kind === 'embedded') return 'leases';
    return this.#presence.heldForMs() > TRUST_AFTER_MS ? 'locks' : 'nothing';
  }

  async #rest(): Promise<void> {
    if (this.#woken || this.#stop.signal.aborted) return;
    const controller = new AbortController();
    this.#wake = () => controller.abort(AWAKE);
    await sleep(this.#options.pollMs, controller.signal);
    this.#wake = () => {};
  }

  #look(): void {
    this.#woken = true;
    this.#wake();
  }

  #announceWork(): void {
    this.#look();
    this.#tellOthers();
  }

  /** Other workers and readers of events hear of it at once, and then every few milliseconds. */
  #tellOthers(): void {
    this.#hasNews = true;
    if (!this.#isHinting) void this.#hint();
  }

  #giveWay(): void {
    this.#tellOthers();
    if (this.#givesWay) return;
    this.#givesWay = true;
    void sleep(GIVE_WAY_MS).then(() => {
      this.#givesWay = false;
      this.#look();
    });
  }

  #announceEnds(): void {
    this.#look();
    this.#tellLater(HINT_OF_ENDS_AFTER_MS);
  }

  #tellLater(ms: number): void {
    if (this.#willTell) return;
    this.#willTell = true;
    void sleep(ms).then(() => {
      this.#willTell = false;
      this.#tellOthers();
    });
  }

  async #hint(): Promise<void> {
    this.#isHinting = true;
    const hints = [
      { channel: JOBS_CHANNEL, payload: this.id },
      { channel: EVENTS_CHANNEL, payload: '' },
    ];
    while (this.#hasNews) {
      this.#hasNews = false;
      await this.#database.driver.notify(hints).catch(() => {}); // only a hint
      await sleep(HINT_EVERY_MS);
    }
    this.#isHinting = false;
  }

  /**
   * Commits the effects of a job. A worker of one session takes what is due with the same message, for
   * the slot of the job and those that are free, and looks again only where that was not all.
   */
  async #commit(job: Job, effects: Effects, signal: AbortSignal): Promise<void> {
    const { log, leaseMs } = this.#options;
    const mayClaim = this.#session !== undefined && !this.#stop.signal.aborted;
    let free = mayClaim ? this.#free() : 0;
    const place = { workerId: this.id, sessionId: job.sessionId, leaseMs };
    const claim = mayClaim ? { ...place, room: free + 1 } : undefined;
    this.#promised += free;
    const onRetry = (): void => {
      this.#promised -= free;
      free = 0;
    };
    const how = { signal, log, claim, onRetry };
    const claimed = await commitPersistently(this.#database, job, effects, how).finally(onRetry);
    if (claimed === null) return this.#giveWay();
    if (!this.#stop.signal.aborted) for (const next of claimed) void this.#execute(next);
    // What is not given back now runs again when its lease is over; the job itself is saved.
    else if (claimed.length > 0) await handBack(this.#database, claimed).catch(() => {});
    if (!claim || claimed.length >= claim.room) return this.#announceWork();
    // A claim that found nothing may have passed over what another transaction held.
    if (claimed.length === 0) this.#look();
    this.#tellLater(HINT_OF_TAKEN_AFTER_MS);
  }

  async #execute(job: ClaimedJob): Promise<void> {
    const signal = this.#leases.hold(job);
    const started = elapsedMs();
    this.#trace?.add(`wait for a claim: ${job.type}`, job.id, started - job.waitedMs);
    let error: DialecticError | null = null;
    let committed = false;
    try {
      const handler = this.#handlers[job.type];
      if (!handler) throw new Error(`no handler for ${job.type} jobs`);
      await handler({
        job,
        signal,
        stopping: this.#stop.signal,
        heartbeat: () => this.#leases.require(job),
        commit: async (effects) => {
          if (committed) throw new Error('a job commits once');
          committed = true;
          await timed(this.#trace, 'commit', job.id, () => this.#commit(job, effects, signal));
        },
      });
      if (!committed) this.#batch.add(job);
    } catch (thrown) {
      error = toDialecticError(thrown);
      await recordFailure(this.#database, job, thrown, {
        signal,
        log: this.#options.log,
        settings: this.#options.settings,
      });
      this.#announceWork();
    } finally {
      this.#trace?.add(`job: ${job.type}`, job.id, started, { step: job.stepKey, role: job.role });
      this.#leases.drop(job);
      // Where the last claim left room there was nothing more to take, and what the end of a job sets
      // free is announced when it is saved. A claim with a commit passes over rows that are locked.
      const isLast = this.#leases.size === 0;
      if ((this.#isFull || isLast) && !this.#givesWay) this.#look();
      this.#options.onEnded({ job, ms: elapsedMs() - started, error, isLast });
    }
  }
}
