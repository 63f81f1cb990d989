import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import type { AnyTransaction } from '../../src/db/transaction.ts';
import { commitEffects } from '../../src/jobs/context.ts';
import { createStageRun } from '../../src/jobs/lanes.ts';
import { claimJobs, completeJobs } from '../../src/jobs/queries.ts';
import { cancelSession } from '../../src/jobs/sessions.ts';
import type { Job } from '../../src/jobs/types.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named, type TestJob } from '../engine.ts';

const LEASE_MS = 60_000;
/** Long enough for a statement to reach the lock that it must wait for. */
const UNTIL_BLOCKED_MS = 150;

/** One session on a server, with jobs that are brought to the start of a race. */
export class Track {
  readonly database: Database;
  readonly bench: Bench;

  private constructor(database: Database, bench: Bench) {
    this.database = database;
    this.bench = bench;
  }

  /** Runs a race in a session of its own, and ends that session whatever happened. */
  static async race(
    database: Database,
    tenantId: string,
    work: (track: Track) => Promise<void>,
  ): Promise<void> {
    const bench = await Bench.open(database, tenantId);
    try {
      await work(new Track(database, bench));
    } finally {
      const over = database.asTenant(tenantId, (tx) => cancelSession(tx, bench.sessionId));
      await over.catch(() => {}); // it may be cancelled already
    }
  }

  stageRun(): Promise<string> {
    const { tenantId, sessionId } = this.bench;
    const run = { sessionId, iteration: 1, stageKey: newId() };
    return this.database.asTenant(tenantId, (tx) => createStageRun(tx, run));
  }

  /** Claims everything that is due, by the names of the jobs. */
  async claim(): Promise<Map<string, Job>> {
    const jobs = await claimJobs(this.database, newId(), 1_000, LEASE_MS, 'leases');
    return new Map(jobs.map((job) => [job.payload['name'] as string, job]));
  }

  complete(...jobs: Job[]): Promise<string[]> {
    return completeJobs(this.database, jobs);
  }

  /** A PLAN that waits for children, which are claimed. */
  async family(parent: string, children: readonly TestJob[], extra: Partial<TestJob> = {}) {
    await this.bench.enqueue(named(parent, { type: 'PLAN', ...extra }));
    const plan = (await this.claim()).get(parent)!;
    await commitEffects(this.database, plan, { children, next: { waitFor: 'children' } });
    return { plan, children: await this.claim() };
  }

  async statusOf(name: string): Promise<string | undefined> {
    return (await this.bench.statuses())[name];
  }

  /** Does a part of a transaction and keeps it open until `release`. */
  async hold(work: (tx: AnyTransaction) => Promise<unknown>): Promise<() => Promise<void>> {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const done = this.database.asWorker(async (tx) => {
      await work(tx);
      reached.resolve();
      await released.promise;
    });
    await Promise.race([reached.promise, done]);
    return async () => {
      released.resolve();
      await done;
    };
  }

  /** Holds the end of a job open: its rows and locks are there, but nobody sees them yet. */
  holdEnd(job: Job): Promise<() => Promise<void>> {
    return this.hold((tx) =>
      tx.query('select complete_jobs(array[$1]::uuid[], array[$2]::uuid[], array[$3]::uuid[])', [
        job.tenantId,
        job.id,
        job.leaseToken,
      ]),
    );
  }

  /** Starts `second` while `first` is still open, then lets both end. */
  async overtake(release: () => Promise<void>, second: Promise<unknown>): Promise<void> {
    await Promise.race([second, sleep(UNTIL_BLOCKED_MS)]);
    await release();
    await second;
  }
}
