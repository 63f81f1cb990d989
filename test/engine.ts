import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import type { Database } from '../src/db/database.ts';
import type { ChildJob, JobHandlers } from '../src/jobs/context.ts';
import { enqueueJobs } from '../src/jobs/enqueue.ts';
import { createSession, type NewSession } from '../src/jobs/sessions.ts';
import type { NewJob } from '../src/jobs/types.ts';
import { Worker, type WorkerOptions } from '../src/jobs/worker.ts';

export type TestJob = Omit<NewJob, 'sessionId'>;

/** A session with jobs on a test store, and ways to look at them. */
export class Bench {
  readonly database: Database;
  readonly tenantId: string;
  readonly sessionId: string;

  private constructor(database: Database, tenantId: string, sessionId: string) {
    this.database = database;
    this.tenantId = tenantId;
    this.sessionId = sessionId;
  }

  static async open(database: Database, tenantId: string, session: NewSession = {}) {
    const id = await database.asTenant(tenantId, (tx) => createSession(tx, session));
    return new Bench(database, tenantId, id);
  }

  /** A session that is there already. */
  static at(database: Database, tenantId: string, sessionId: string) {
    return new Bench(database, tenantId, sessionId);
  }

  enqueue(...jobs: TestJob[]): Promise<string[]> {
    const { tenantId, sessionId } = this;
    return this.database.asTenant(tenantId, (tx) =>
      enqueueJobs(
        tx,
        jobs.map((job) => ({ ...job, sessionId })),
      ),
    );
  }

  /** The statuses by the payload's `name`. */
  async statuses(): Promise<Record<string, string>> {
    const rows = await this.rows();
    return Object.fromEntries(rows.map((row) => [row.name, row.status]));
  }

  rows() {
    return this.database.asTenant(this.tenantId, (tx) =>
      tx.query<{
        id: string;
        name: string;
        status: string;
        error: { code: string } | null;
        degraded: boolean;
        attempt: number;
        takeovers: number;
      }>(
        `select id, payload->>'name' as name, status, error, degraded, attempt, takeovers
         from jobs where session_id = $1 order by seq`,
        [this.sessionId],
      ),
    );
  }

  async settled(statuses: Record<string, string>): Promise<void> {
    await expect.poll(() => this.statuses(), { interval: 20 }).toEqual(statuses);
  }
}

export const named = (name: string, job: Partial<TestJob> = {}): TestJob & ChildJob => ({
  type: 'EXECUTE',
  ...job,
  payload: { ...job.payload, name },
});

/** A worker that is stopped when the work is done, whatever the work did. */
export async function withWorker<T>(
  database: Database,
  handlers: JobHandlers,
  work: (worker: Worker) => Promise<T>,
  options: Partial<WorkerOptions> = {},
): Promise<T> {
  const worker = new Worker({ database, handlers, pollMs: 100, log: () => {}, ...options });
  await worker.start();
  try {
    return await work(worker);
  } finally {
    await worker.stop();
  }
}

const LOOK_EVERY_MS = 25;
const LOOK_ANYWAY_MS = 1_000;
const LONGEST_RUN_MS = 120_000;

/**
 * Waits until a session runs no more or a gate holds it, and tells which. The store is asked only
 * while the worker is idle: asking all the time took a fifth of the processor time of a debate.
 */
export async function untilRested(
  worker: Worker,
  database: Database,
  { tenantId, sessionId }: { readonly tenantId: string; readonly sessionId: string },
): Promise<{ readonly status: string; readonly gates: readonly string[] }> {
  for (let waitedMs = 0; waitedMs < LONGEST_RUN_MS; waitedMs += LOOK_EVERY_MS) {
    if (worker.running === 0 || waitedMs % LOOK_ANYWAY_MS === 0) {
      const session = await database.asTenant(tenantId, (tx) =>
        tx.queryOne<{ status: string; gates: string[] }>(
          'select status, gates from sessions where id = $1',
          [sessionId],
        ),
      );
      if (session.status !== 'running' || session.gates.length > 0) return session;
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`session ${sessionId} did not come to rest`);
}

/** Waits until the workers of a store have asked it a few more times. */
export async function untilLookedAgain(database: Database): Promise<void> {
  const acquire = vi.spyOn(database.driver, 'acquire');
  await expect.poll(() => acquire.mock.calls.length, { interval: 20 }).toBeGreaterThan(4);
  acquire.mockRestore();
}
