import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Embedder } from '../../src/context/embedder.ts';
import { lexicalEmbedder } from '../../src/context/lexical-embedder.ts';
import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { removeGate } from '../../src/jobs/sessions.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { sleep } from '../../src/platform/clock.ts';
import { startRun } from '../../src/session/start.ts';
import { cancelRun, pauseRun } from '../../src/session/stop.ts';
import { SOURCE_LIMITS } from '../../src/sources/source-limits.ts';
import { GOOD_CHECKLIST, playWorkPlan, workPlan } from '../generation/work-plan.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { longText } from './long-texts.ts';

/** 225,000 characters at some 220 a part, and the questions. */
const MOST_PARTS = 1_500;
/** Asked for is a second; the rest is for a busy machine. */
const SOON_MS = 4_000;

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('embedded');
  ({ tenantId } = await newTenant(database));
});

const countRows = async (table: string, where = 'true'): Promise<number> => {
  const { count } = await database.asTenant(tenantId, (tx) =>
    tx.queryOne<{ count: number }>(
      `select count(*)::int as count from ${table} where tenant_id = $1 and ${where}`,
      [tenantId],
    ),
  );
  return count;
};

const play = (excerpts: readonly string[]) =>
  playWorkPlan({ database, tenantId }, [{ text: JSON.stringify(GOOD_CHECKLIST) }], {
    sources: excerpts.map((text, at) => ({ title: `Book ${at + 1}`, excerpts: [text] })),
  });

test('of a source that a prompt shows whole nothing is embedded', async () => {
  const { status } = await play([longText(30_000, 1)]);
  expect(status).toBe('completed');
  expect(await countRows('memory_vectors')).toBe(0);
  expect(await countRows('memory_chunks')).toBe(0);
});

test('of the longest source its passages on the subject are shown, and little is embedded', async () => {
  const needle = 'The web shop of another bakery sold 4,127 loaves in its first week.';
  const { status, asked } = await play([longText(SOURCE_LIMITS.each, 2, needle)]);
  expect(status).toBe('completed');
  const prompt = asked[0]!.messages.map(({ content }) => content).join('\n');
  expect(prompt).toContain(needle);
  expect(prompt.length).toBeLessThan(120_000);
  const parts = await countRows('memory_vectors');
  expect(parts).toBeGreaterThan(100);
  expect(parts).toBeLessThan(MOST_PARTS);
  expect(await countRows('memory_chunks')).toBeLessThan(MOST_PARTS);
});

/** A run over a long source, whose parts are embedded 64 in 0.4 seconds. */
async function startReading(seed: number) {
  const given: string[] = [];
  const embedder: Embedder = {
    model: `slow/${seed}`,
    embed: async (texts) => {
      await sleep(400);
      given.push(...texts);
      return lexicalEmbedder.embed(texts);
    },
  };
  const { sessionId } = await database.asTenant(tenantId, (tx) =>
    startRun(tx, {
      name: `Reading ${seed}`,
      brief: 'A web shop for a bakery.',
      process: workPlan(),
      models: ['offline/builder'],
      sources: [{ title: `Chronicle ${seed}`, excerpts: [longText(2_000_000, seed)] }],
    }),
  );
  const config = readModelsConfig({});
  const provider = createModelProvider(config);
  const handlers = createHandlers({ database, config, provider, embedder });
  const worker = new Worker({ database, handlers, session: { tenantId, sessionId } });
  await worker.start();
  onTestFinished(() => worker.stop(0));
  const told = () =>
    database.asTenant(tenantId, (tx) =>
      tx.query<{ payload: { title: string; done: number; all: number } }>(
        `select payload from events where topic = $1 and kind = 'parts-read' order by tx, id`,
        [`session/${sessionId}`],
      ),
    );
  await expect.poll(async () => (await told()).length, { timeout: 60_000 }).toBeGreaterThan(0);
  const inWork = () => countRows('jobs', `session_id = '${sessionId}' and status = 'processing'`);
  return { sessionId, worker, given, told, inWork };
}

test('reading tells how far it is, stops when the session pauses, and goes on from there', async () => {
  const { sessionId, worker, given, told, inWork } = await startReading(3);
  const [first] = await told();
  expect(first!.payload).toMatchObject({ title: 'Chronicle 3' });
  expect(first!.payload.done).toBeLessThan(first!.payload.all);
  const startedMs = performance.now();
  await database.asTenant(tenantId, (tx) => pauseRun(tx, sessionId));
  await expect.poll(inWork, { interval: 20 }).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  expect(await countRows('model_calls', `session_id = '${sessionId}'`)).toBe(0);
  expect(worker.running).toBe(0);
  const before = given.length;
  await database.asTenant(tenantId, (tx) => removeGate(tx, sessionId));
  await expect
    .poll(() => countRows('sessions', `id = '${sessionId}' and status = 'completed'`))
    .toBe(1);
  expect(given.length).toBeGreaterThan(before);
  // One batch at most was under way when it was stopped, and is embedded again.
  expect(given.length - new Set(given).size).toBeLessThanOrEqual(64);
  const { done, all } = (await told()).at(-1)!.payload;
  expect(done).toBe(all);
  expect(all).toBeLessThan(first!.payload.all);
});

test('a worker that is told to stop puts back at once what only reads', async () => {
  const { sessionId, worker } = await startReading(4);
  const startedMs = performance.now();
  await worker.stop(60_000);
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  expect(await countRows('jobs', `session_id = '${sessionId}' and status = 'pending'`)).toBe(1);
  expect(await countRows('jobs', `session_id = '${sessionId}' and status = 'failed'`)).toBe(0);
});

test('a run that is cancelled while it reads stops at once', async () => {
  const { sessionId, worker } = await startReading(5);
  const startedMs = performance.now();
  await database.asTenant(tenantId, (tx) => cancelRun(tx, sessionId));
  await expect.poll(() => worker.running, { interval: 20 }).toBe(0);
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
});

test('more than the limits is refused by name, and nothing of it is kept', async () => {
  const { each, together } = SOURCE_LIMITS;
  const start = (sources: readonly { title: string; excerpts: string[] }[]) =>
    database.asTenant(tenantId, (tx) =>
      startRun(tx, {
        name: 'Too much',
        brief: 'Bake.',
        process: workPlan(),
        models: ['offline/builder'],
        sources,
      }),
    );
  const book = (name: string, length: number) => ({
    title: name,
    excerpts: [name.repeat(Math.ceil(length / name.length)).slice(0, length)],
  });
  await expect(start([book('Tome', each + 1)])).rejects.toMatchObject({
    code: 'file_too_large',
    message: expect.stringContaining('Tome has 10,000,001 characters') as string,
  });
  const many = Array.from({ length: together / each }, (_, at) => book(`Volume ${at} `, each));
  await expect(start([...many, book('Epilogue', 10)])).rejects.toMatchObject({
    code: 'file_too_large',
    message: expect.stringMatching(/^With Epilogue the sources have 50,000,010 .* Leave some out/),
  });
  expect(await countRows('projects', `name = 'Too much'`)).toBe(0);
});
