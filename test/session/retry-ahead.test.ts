import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Transaction } from '../../src/db/transaction.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { findContextJobs } from '../../src/handlers/find-context-jobs.ts';
import { load } from '../../src/handlers/load.ts';
import type { JobContext, JobHandler } from '../../src/jobs/context.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { readSession } from '../../src/session/read.ts';
import { resumeRun } from '../../src/session/resume.ts';
import { startRun } from '../../src/session/start.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { runUntil, writeTrivially } from './trivial.ts';

/** When `other` fails, `draft` is cancelled while `head`, which it waits for, goes on. */
const process = processOf('two', [
  stage('s', [
    step('head', 'PLAN', 'all_to_one', 'head', ['seed:s/']),
    step('other', 'EXECUTE', 'all_to_one', 'other', ['seed:s/']),
    step('draft', 'EXECUTE', 'per_source_document', 'draft', ['header:s/head']),
  ]),
]);

const refuse = (): never => {
  throw new DialecticError('model_refused', 'It will not.');
};

describeOnBoth('steps planned ahead of what failed', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const start = async (more: { models?: string[]; allowDegraded?: boolean } = {}) => {
    const run = { name: 'P', brief: 'A thing.', process, models: ['x/a'], ...more };
    const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
    return { tenantId, sessionId };
  };
  const query = <Row extends object>(text: string, sessionId: string) =>
    database.asTenant(tenantId, (tx) => tx.query<Row>(text, [sessionId]));
  const stepsOf = async (sessionId: string) => {
    const rows = await query<{ key: string; state: string }>(
      `select l.step_key as key, l.state from lane_steps l
       join stage_runs r on r.id = l.stage_run_id where r.session_id = $1`,
      sessionId,
    );
    return Object.fromEntries(rows.map(({ key, state }) => [key, state]));
  };
  const isOver = (sessionId: string, step: string) =>
    query(
      `select 1 from jobs where session_id = $1 and step_key = '${step}' and is_over(status)`,
      sessionId,
    );

  test('begin when they are tried again, also where that has ended meanwhile', async () => {
    const place = await start();
    let isBroken = true;
    let state: Record<string, string> = {};
    const execute = writeTrivially(async ({ step }) => {
      if (isBroken && step === 'other') return refuse();
      if (isBroken && step === 'head') {
        await expect.poll(() => isOver(place.sessionId, 'draft')).toHaveLength(1);
      }
      if (step === 'draft') state = await stepsOf(place.sessionId);
      return {};
    });
    await runUntil(database, place, 'failed', execute);
    await expect.poll(() => isOver(place.sessionId, 'head')).toHaveLength(1);
    isBroken = false;
    await database.asTenant(tenantId, (tx) => retrySession(tx, place.sessionId));
    await runUntil(database, place, 'completed', execute);
    expect(state).toMatchObject({ head: 'completed', draft: 'running' });
    const told = await query<{ kind: string }>(
      `select kind from events where topic = 'session/' || $1 and payload->>'step' = 'draft'
       and kind like 'step-%' order by tx, id`,
      place.sessionId,
    );
    expect(told.map((event) => event.kind)).toEqual(['step-started', 'step-completed']);
  });

  test('are left out where a document of theirs is looked at', async () => {
    const place = await start({ models: ['x/a', 'x/b'], allowDegraded: true });
    const execute = writeTrivially(({ step, identity }) =>
      step === 'head' && identity.endsWith('/2') ? refuse() : {},
    );
    await runUntil(database, place, 'completed', execute);
    const found = await database.asTenant(tenantId, async (tx) =>
      findContextJobs(tx, await readSession(tx, place.sessionId), 'draft'),
    );
    expect(found).toHaveLength(1);
    expect((await load(database, found[0]!.job)).planned.step).toBe('draft');
  });

  // PGlite has one connection, on which no two transactions wait for each other.
  test.runIf(kind === 'server')('are resumed while what they wait for is being saved', async () => {
    const place = await start();
    let isBroken = true;
    const inside = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const saveSlowly = (context: JobContext): Promise<void> =>
      writeTrivially()({
        ...context,
        commit: (effects) =>
          context.commit({
            ...effects,
            write: async (tx: Transaction) => {
              await effects.write?.(tx);
              inside.resolve();
              await end.promise;
            },
          }),
      });
    const execute: JobHandler = async (context) => {
      const { step } = context.job.payload['planned'] as PlannedJob;
      if (isBroken && step === 'other') return refuse();
      if (!isBroken || step !== 'head') return writeTrivially()(context);
      await expect.poll(() => isOver(place.sessionId, 'draft')).toHaveLength(1);
      return saveSlowly(context);
    };
    const working = runUntil(database, place, ['failed', 'completed'], execute);
    await inside.promise;
    isBroken = false;
    const resumed = database.asTenant(tenantId, (tx) => resumeRun(tx, place.sessionId));
    // Until it waits for the lock that the save holds, or is through.
    const waits = `select 1 from pg_locks where not granted and pid <> pg_backend_pid()`;
    const isWaiting = database.transaction({ as: 'owner' }, async (tx) => {
      for (let look = 0; look < 50; look++) {
        if ((await tx.query(waits)).length > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    await Promise.race([isWaiting, resumed]);
    end.resolve();
    await resumed;
    await working;
    await runUntil(database, place, 'completed', execute);
  });
});
