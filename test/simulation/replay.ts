import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { commitEffects, type Effects } from '../../src/jobs/context.ts';
import { enqueueJobs } from '../../src/jobs/enqueue.ts';
import { recordFailure } from '../../src/jobs/failure.ts';
import { createStageRun } from '../../src/jobs/lanes.ts';
import {
  claimJobs,
  completeJobs,
  extendLeases,
  handBack,
  requeueAll,
} from '../../src/jobs/queries.ts';
import {
  addGate,
  cancelSession,
  createSession,
  removeGate,
  retrySession,
} from '../../src/jobs/sessions.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import type { Job } from '../../src/jobs/types.ts';
import { compareLog } from './compare-log.ts';
import { databaseImage, modelImage } from './images.ts';
import type { SimEffects, SimFault } from './model.ts';
import { apply, listOf, type Operation, type Outcome } from './operations.ts';
import type { Simulated } from './simulator.ts';
import { createWorld, LEASE_MS, type SimJob, START, type World } from './world.ts';

/** A store with a clock that the replay sets. */
export type ReplayStore = {
  readonly database: Database;
  readonly tenantId: string;
  readonly clock: { now: number };
};

/** Runs a simulated history on the real engine and compares everything after every operation. */
export async function replay(store: ReplayStore, simulated: Simulated): Promise<void> {
  const { maxRunning } = simulated.world;
  store.clock.now = START;
  const sessionId = await store.database.asTenant(store.tenantId, (tx) =>
    createSession(tx, { maxRunning }),
  );
  const session = new Session(store, sessionId, createWorld(maxRunning));
  for (const [step, operation] of simulated.history.entries()) {
    const expected = await session.step(operation);
    if (expected === undefined) continue;
    const what = JSON.stringify(operation);
    throw new Error(`seed ${simulated.seed}, step ${step}, ${what}: ${expected}`);
  }
  await session.compareEffects();
  const { database, tenantId } = store;
  const differs = () => compareLog(database, tenantId, sessionId);
  // Transactions of other tests on the same server delay readers of the log.
  await expect.poll(differs, { message: `seed ${simulated.seed}`, timeout: 20_000 }).toEqual([]);
}

class Session {
  readonly #store: ReplayStore;
  readonly #id: string;
  readonly #world: World;
  readonly #jobs: Job[] = [];
  readonly #stageRuns = new Map<string, string>();
  #commits = 0;

  constructor(store: ReplayStore, id: string, world: World) {
    this.#store = store;
    this.#id = id;
    this.#world = world;
  }

  /** Runs one operation on both; returns what differs, if anything does. */
  async step(operation: Operation): Promise<string | undefined> {
    const { database } = this.#store;
    const claimedBefore = this.#world.executions.length;
    const expected = apply(this.#world, operation);
    this.#store.clock.now = this.#world.now;
    const outcome = await this.#perform(operation).catch((error: unknown) => {
      if (error instanceof DialecticError) return error.code;
      throw error;
    });
    if (operation.op === 'claim') {
      if (listOf(expected.split(' ')) !== outcome) return `${outcome} instead of ${expected}`;
      const claimed = this.#world.executions.slice(claimedBefore);
      this.#jobs.push(...claimed.map(({ job }) => this.#claimed.get(job.id)!));
    } else if (outcome !== expected) {
      return `${outcome} instead of ${expected}`;
    }
    if (operation.op === 'commit' && outcome === 'done') this.#commits++;
    const [want, have] = [
      modelImage(this.#world, this.#stageRuns),
      await databaseImage(database, this.#id),
    ];
    const at = want.findIndex((line, n) => line !== have[n]);
    if (at < 0 && want.length === have.length) return undefined;
    const first = at < 0 ? want.length : at;
    return `the model says\n  ${want[first]}\nthe database says\n  ${have[first]}`;
  }

  /** Each commit left its event exactly once; those that lost their lease left none. */
  async compareEffects(): Promise<void> {
    const [row] = await this.#store.database.asTenant(this.#store.tenantId, (tx) =>
      tx.query<{ count: number }>('select count(*)::int as count from events where topic = $1', [
        `effects/${this.#id}`,
      ]),
    );
    if (row!.count === this.#commits) return;
    throw new Error(`${row!.count} effects instead of ${this.#commits}`);
  }

  readonly #claimed = new Map<string, Job>();

  async #perform(operation: Operation): Promise<Outcome> {
    const { database, tenantId } = this.#store;
    const held = (numbers: readonly number[]) => numbers.map((number) => this.#jobs[number]!);
    switch (operation.op) {
      case 'wait':
        return 'done';
      case 'claim': {
        const jobs = await claimJobs(
          database,
          operation.worker,
          operation.batch,
          LEASE_MS,
          'leases',
        );
        for (const job of jobs) this.#claimed.set(job.id, job);
        return listOf(jobs.map((job) => job.id));
      }
      case 'complete':
        return listOf(await completeJobs(database, held(operation.executions)));
      case 'commit':
        await this.#commit(held([operation.execution])[0]!, operation.effects);
        return 'done';
      case 'fail':
        await this.#fail(held([operation.execution])[0]!, operation.fault);
        return 'done';
      case 'hand-back':
        await handBack(database, held(operation.executions));
        return 'done';
      case 'beat':
        await extendLeases(database, operation.worker, LEASE_MS, held(operation.executions));
        return 'done';
      case 'restart':
        await requeueAll(database);
        return 'done';
      default:
        return database.asTenant(tenantId, (tx) => this.#ask(tx, operation));
    }
  }

  /** What a person or the program around the engine asks for, in a tenant's transaction. */
  async #ask(tx: Parameters<typeof addGate>[0], operation: Operation): Promise<Outcome> {
    const sessionId = this.#id;
    switch (operation.op) {
      case 'stage-run': {
        const run = { sessionId, iteration: 1, stageKey: operation.id };
        this.#stageRuns.set(operation.id, await createStageRun(tx, run));
        break;
      }
      case 'enqueue':
        await enqueueJobs(
          tx,
          operation.jobs.map((job) => ({ ...this.#row(job), sessionId })),
        );
        break;
      case 'gate':
        await addGate(tx, sessionId, operation.gate);
        break;
      case 'open':
        await removeGate(tx, sessionId, operation.gate ?? undefined);
        break;
      case 'cancel':
        await cancelSession(tx, sessionId);
        break;
      case 'retry':
        return String(await retrySession(tx, sessionId));
      case 'supersede':
        await tx.query(`update jobs set status = 'superseded' where id = $1`, [operation.job]);
        break;
    }
    return 'done';
  }

  #row(job: SimJob) {
    const { stageRunId, ...rest } = job;
    const stageRun = stageRunId && { stageRunId: this.#stageRuns.get(stageRunId)! };
    return { ...rest, ...stageRun, payload: { progress: 0 } };
  }

  async #commit(job: Job, effects: SimEffects): Promise<void> {
    const { progress, children, continuation, next } = effects;
    const real: Effects = {
      write: async (tx) => {
        if (progress !== undefined) {
          await tx.query('update jobs set payload = $1 where id = $2', [{ progress }, job.id]);
        }
      },
      ...(children && { children: children.map((child) => this.#row(child)) }),
      ...(continuation && { continuation: this.#row(continuation) }),
      events: [{ topic: `effects/${this.#id}`, kind: 'effect-made' }],
      ...(next && { next }),
    };
    await commitEffects(this.#store.database, job, real);
  }

  #fail(job: Job, { retryable, retryAfterMs, sent }: SimFault): Promise<void> {
    const error = new DialecticError(retryable ? 'conflict' : 'usage_invalid', 'no', {
      retryable,
      details: { retryAfterMs, sent },
    });
    return recordFailure(this.#store.database, job, error, {
      signal: new AbortController().signal,
      log: () => {},
      settings: DEFAULT_JOB_SETTINGS,
    });
  }
}
