import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { withWorker } from '../engine.ts';
import { startPostgres } from '../postgres-server.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newTenant } from '../stores.ts';
import { type Pace, startScriptedServer } from './scripted-server.ts';

/** A run of so many documents on a server of its own, and what answers its calls. */
async function startDrafts(count: number, text: (key: string) => string, pace?: Pace) {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const answer = (key: string) => JSON.stringify({ text: text(key) });
  const models = await startScriptedServer(({ deliverable }) => {
    return { text: answer(deliverable) };
  }, pace);
  onTestFinished(() => models.stop());
  const databaseUrl = await server.createDatabase('restarting');
  const database = await openDatabase({ databaseUrl }, { connections: 30 });
  onTestFinished(() => database.close());
  const { tenantId } = await newTenant(database);
  const keys = Array.from({ length: count }, (_, n) => `document_${n + 1}`);
  const steps = keys.map((key) => step(key, 'PLAN', 'all_to_one', key, ['seed:draft/']));
  const process = processOf('drafts', [stage('draft', steps)]);
  const run = { name: 'Drafts', brief: 'Write.', process, models: ['compatible/m'] };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  const config = readModelsConfig(
    { DIALECTIC_BASE_URL: models.url },
    { providers: { compatible: { concurrency: count } } },
  );
  const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
  const deliverables = keys.map((key) => `draft/${key}`);
  const work = (watch: () => Promise<void>) =>
    withWorker(database, handlers, watch, { concurrency: count + 5 });
  const untilCompleted = async () => {
    const read = () => database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
    const status = () =>
      read().then(
        (session) => session.status,
        () => 'away',
      );
    await expect.poll(status, { timeout: 60_000 }).toBe('completed');
  };
  const answers = deliverables.map(answer).toSorted();
  return {
    server,
    models,
    database,
    databaseUrl,
    tenantId,
    deliverables,
    answers,
    work,
    untilCompleted,
  };
}

/** Keeps every commit of an answer waiting in the middle of its transaction. */
async function holdCommits(url: string) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // a restart of the server ends it
  await client.connect();
  await client.query('begin; lock table contributions in share mode');
  const read = async (statement: string) => (await client.query(statement)).rows;
  return {
    untilWaiting: (count: number) =>
      expect
        .poll(
          () =>
            read(`select count(*)::int as n from pg_locks
              where relation = 'contributions'::regclass and not granted`),
          { timeout: 60_000 },
        )
        .toEqual([{ n: count }]),
    /** The answers as they would be found if the worker died now. */
    savedAnswers: async () => {
      const rows = await read(
        `select string_agg(body, '' order by seq) as text from call_pieces group by call_id`,
      );
      return rows.map(({ text }) => text as string).toSorted();
    },
    release: () => client.end(),
  };
}

test('a server that restarts during 20 commits of effects costs no second request', async () => {
  const drafts = await startDrafts(20, (key) => `All that there is to say about ${key}.`);
  const held = await holdCommits(drafts.databaseUrl);
  await drafts.work(async () => {
    // The first waits in the store, and the others for it, to be saved together.
    await held.untilWaiting(1);
    // An answer that is not saved within a second is checkpointed.
    await expect.poll(held.savedAnswers, { timeout: 60_000 }).toEqual(drafts.answers);
    await drafts.server.restart();
    await drafts.untilCompleted();
  });
  const asked = drafts.models.served.map((row) => row.deliverable);
  expect(asked.toSorted()).toEqual(drafts.deliverables.toSorted());
  const rows = await drafts.database.asTenant(drafts.tenantId, (tx) =>
    tx.query(
      `select (select count(*) from documents where kind <> 'seed_prompt')::int8 as documents,
         (select count(*) from model_calls where status = 'received')::int8 as received,
         (select count(*) from model_calls)::int8 as calls,
         (select count(*) from contributions)::int8 as chunks,
         (select sum(takeovers) from jobs)::int8 as takeovers`,
    ),
  );
  expect(rows).toEqual([{ documents: 20, received: 20, calls: 20, chunks: 20, takeovers: 0 }]);
}, 180_000);

test('checkpoints that fail while the server is away leave no gap', async () => {
  let most = 5;
  const pace: Pace = { pieceChars: 1_000, gapMs: 30, isHeld: (row) => row.sent.length >= most };
  const text = Array.from({ length: 6_000 }, (_, n) => `word-${n}`).join(' ');
  const drafts = await startDrafts(1, () => text, pace);
  await drafts.work(async () => {
    const sent = () => drafts.models.served[0]?.sent.length ?? 0;
    await expect.poll(sent, { timeout: 30_000 }).toBe(5);
    const restarted = drafts.server.restart();
    most = 45; // these arrive while the server is away
    await restarted;
    await expect.poll(sent, { timeout: 30_000 }).toBe(45);
    const held = await holdCommits(drafts.databaseUrl);
    most = Number.POSITIVE_INFINITY;
    await held.untilWaiting(1);
    await expect.poll(held.savedAnswers, { timeout: 60_000 }).toEqual(drafts.answers);
    await held.release();
    await drafts.untilCompleted();
  });
  expect(drafts.models.served.length).toBe(1);
}, 180_000);
