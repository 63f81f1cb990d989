import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Recall } from '../../src/context/recall.ts';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { chooseEmbedder } from '../../src/handlers/choose-embedder.ts';
import { FundsRefused } from '../../src/handlers/embedding-call.ts';
import { pauseForFunds } from '../../src/handlers/pause-for-funds.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { grantFunds } from '../../src/wallet/ledger.ts';
import { reportCosts } from '../../src/wallet/report.ts';
import { setSessionBudgets } from '../../src/wallet/session-budgets.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { newProject, openTestStore } from '../stores.ts';

const MODEL = 'lab/embed';
const TOKENS_A_TEXT = 7;
const prompt = 'How many loaves does the oven of document 3 bake in part 5 of the plan?';

let database: Database;
let server: Awaited<ReturnType<typeof startServer>>;
/** Texts of each request, and what the server does with the next one instead of answering. */
let requests: string[][] = [];
let fault: number | null = null;
/** Spoils the vectors of one answer, whose usage is reported all the same. */
let spoil: ((vectors: number[][]) => number[][]) | null = null;
let reported = TOKENS_A_TEXT;

beforeAll(async () => {
  database = await openTestStore('embedded');
  server = await startServer((_request, response, body) => {
    const { input } = JSON.parse(body) as { input: string[] };
    const status = fault ?? 200;
    fault = null;
    response.writeHead(status, { 'content-type': 'application/json' });
    if (status !== 200) return response.end(JSON.stringify({ error: { message: 'not now' } }));
    requests.push(input);
    const whole = input.map((text, index) => [text.length, index + 1, 2]);
    const vectors = spoil ? spoil(whole) : whole;
    spoil = null;
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
    const usage = { prompt_tokens: reported * input.length, total_tokens: 0 };
    return response.end(JSON.stringify({ object: 'list', model: 'embed', data, usage }));
  });
});
afterAll(() => server.stop());
beforeEach(() => {
  requests = [];
});

const documentOf = (n: number): string =>
  Array.from(
    { length: 8 },
    (_, at) =>
      `## Part ${at}\n\nDocument ${n} says in part ${at} that its oven bakes ${at * n} loaves.`,
  ).join('\n\n');
const documents = Array.from({ length: 25 }, (_, n) => documentOf(n));

/** A tenant of its own with a project and a session, and a job that ranks texts as `fit` does. */
async function open(models = {}, beside?: { tenantId: string; projectId: string }) {
  const { tenantId, projectId } = beside ?? (await newProject(database));
  const bench = await Bench.open(database, tenantId);
  const config = readModelsConfig(
    {},
    {
      providers: { lab: { kind: 'compatible', baseUrl: server.url, apiKey: 'key' } },
      models: { [MODEL]: { price: { input: 2, output: 0 } }, ...models },
      embeddings: MODEL,
    },
  );
  const deps = { database, config, provider: createModelProvider(config) };
  const rank = async (context: JobContext, texts: readonly string[], promptMicros = 0) => {
    const asked = { model: 'lab/author', projectId, promptMicros };
    const chosen = chooseEmbedder(deps, context, asked);
    const place = { database, tenantId, projectId, sessionId: null };
    const count = (text: string): number => text.length;
    return Recall.over({ ...place, ...chosen, prompt, count }, texts);
  };
  return { bench, tenantId, projectId, rank };
}

/** Lets a worker do jobs of these names, one after the other, each by its own work. */
async function work(
  bench: Bench,
  works: Record<string, (context: JobContext) => Promise<unknown>>,
) {
  const ran: string[] = [];
  const execute = async (context: JobContext): Promise<void> => {
    const name = String(context.job.payload['name']);
    ran.push(name);
    try {
      await works[name]?.(context);
    } catch (error) {
      if (!(error instanceof FundsRefused)) throw error;
      await pauseForFunds(context, error.held);
    }
  };
  const settings = { ...DEFAULT_JOB_SETTINGS, firstRetryMs: 10, longestRetryMs: 20 };
  await withWorker(
    database,
    { EXECUTE: execute },
    async () => {
      for (const name of Object.keys(works)) {
        await bench.enqueue(named(name));
        await expect
          .poll(async () => (await bench.statuses())[name], { timeout: 30_000 })
          .toMatch(/completed|pending/);
        if ((await bench.statuses())[name] === 'pending') return;
      }
    },
    { settings },
  );
  return ran;
}

const report = (bench: Bench) =>
  database.asTenant(bench.tenantId, (tx) => reportCosts(tx, bench.sessionId));

test('texts go in batches, each held and charged; the next prompt of the same costs nothing', async () => {
  const { bench, rank } = await open();
  await work(bench, {
    first: (context) => rank(context, documents),
    again: (context) => rank(context, documents),
    edited: (context) =>
      rank(context, documents.with(4, documents[4]!.replace('part 6 that', 'part 6 now that'))),
  });
  const [batches, edited] = [requests.slice(0, -1), requests.at(-1)!];
  const texts = batches.flat();
  expect(batches.every(({ length }) => length <= 96)).toBe(true);
  expect(batches.length).toBe(Math.ceil(texts.length / 96));
  expect(new Set(texts).size).toBe(texts.length);
  expect(edited).toHaveLength(1);
  expect(edited[0]).toContain('part 6 now that');
  const tokens = TOKENS_A_TEXT * (texts.length + 1);
  const { compression, calls, holds } = await report(bench);
  expect(compression).toEqual({ calls: batches.length + 1, usd: (2 * tokens) / 1e6, tokens });
  expect(calls[0]).toMatchObject({ model: MODEL, purpose: 'embedding', status: 'received' });
  expect(holds).toEqual([]);
  const stored = await database.asTenant(bench.tenantId, (tx) =>
    tx.query('select distinct model, dimensions from memory_vectors'),
  );
  expect(stored).toEqual([{ model: MODEL, dimensions: 3 }]);
}, 60_000);

test('what was embedded before a failed try is charged once and found by the next', async () => {
  const { bench, rank } = await open();
  let tries = 0;
  const ran = await work(bench, {
    crashing: async (context) => {
      await rank(context, documents.slice(0, 3));
      tries += 1;
      if (tries === 1)
        throw new DialecticError('provider_unavailable', 'Between embedding and call.');
    },
  });
  expect(ran).toEqual(['crashing', 'crashing']);
  expect(requests).toHaveLength(1);
  expect((await report(bench)).compression.calls).toBe(1);
}, 60_000);

test('a refused batch gives its hold back, and the next try asks for it again', async () => {
  const { bench, rank } = await open();
  fault = 503;
  await work(bench, { busy: (context) => rank(context, documents.slice(0, 3)) });
  const { compression, calls, holds } = await report(bench);
  expect(requests).toHaveLength(1);
  expect(calls.map(({ status }) => status)).toEqual(['failed', 'received']);
  expect(compression.tokens).toBe(TOKENS_A_TEXT * requests.flat().length);
  expect(holds).toEqual([]);
}, 60_000);

test.each([
  ['one vector too few', (all: number[][]) => all.slice(1)],
  ['one vector too many', (all: number[][]) => [...all, [1, 2, 3]]],
  ['vectors of different lengths', (all: number[][]) => all.with(0, [1, 2])],
  ['a vector without numbers', (all: number[][]) => all.map(() => [])],
])(
  'an answer with %s is charged by the usage that it reports, and asked for again',
  async (_, spoiling) => {
    const { bench, rank } = await open();
    spoil = spoiling;
    await work(bench, { spoilt: (context) => rank(context, documents.slice(0, 3)) });
    const { compression, calls, holds, total } = await report(bench);
    const tokens = TOKENS_A_TEXT * requests.flat().length;
    expect(requests).toHaveLength(2);
    expect(calls.map(({ status }) => status)).toEqual(['failed', 'received']);
    expect(compression).toMatchObject({ calls: 2, usd: (2 * tokens) / 1e6, tokens });
    expect(total).toBeCloseTo((2 * tokens) / 1e6);
    expect(holds).toEqual([]);
  },
  60_000,
);

test('a usage that no text of that length can have is counted here instead', async () => {
  const { bench, rank } = await open();
  reported = 900_000_000;
  await work(bench, { boasting: (context) => rank(context, documents.slice(0, 3)) });
  reported = TOKENS_A_TEXT;
  const { compression, calls } = await report(bench);
  expect(calls.map(({ status }) => status)).toEqual(['received']);
  expect(compression.tokens).toBeGreaterThan(100);
  expect(compression.tokens).toBeLessThan(10_000);
}, 60_000);

test('embedding that the wallet cannot pay pauses the session before anything is sent', async () => {
  const { bench, tenantId, rank } = await open();
  await database.asTenant(tenantId, (tx) =>
    grantFunds(tx, { key: 'g', currency: 'USD', amount: 3 }),
  );
  await work(bench, { poor: (context) => rank(context, documents) });
  expect(requests).toEqual([]);
  const [session] = await database.asTenant(tenantId, (tx) =>
    tx.query<{ gates: string[] }>('select gates from sessions where id = $1', [bench.sessionId]),
  );
  expect(session!.gates).toEqual(['funds']);
}, 60_000);

test('with the prompt behind it above a fifth of the wallet, it is asked first', async () => {
  const { bench, tenantId, rank } = await open();
  await database.asTenant(tenantId, (tx) =>
    grantFunds(tx, { key: 'g', currency: 'USD', amount: 100_000 }),
  );
  const few = documents.slice(0, 3);
  await work(bench, {
    cheap: (context) => rank(context, few.slice(0, 1), 5_000),
    dear: (context) => rank(context, few, 30_000),
  });
  // The first was sent, of the second nothing.
  expect(requests).toHaveLength(1);
  const [session] = await database.asTenant(tenantId, (tx) =>
    tx.query<{ gates: string[] }>('select gates from sessions where id = $1', [bench.sessionId]),
  );
  expect(session!.gates).toEqual(['approval']);
  expect((await report(bench)).holds).toEqual([]);
}, 60_000);

test('jobs that need the same texts at once pay for them once', async () => {
  const { bench, rank } = await open();
  const execute = async (context: JobContext): Promise<void> => {
    await rank(context, documents.slice(0, 5));
  };
  await withWorker(
    database,
    { EXECUTE: execute },
    async () => {
      await bench.enqueue(named('one'), named('two'), named('three'));
      await bench.settled({ one: 'completed', two: 'completed', three: 'completed' });
    },
    { concurrency: 3 },
  );
  const texts = requests.flat();
  expect(new Set(texts).size).toBe(texts.length);
  expect((await report(bench)).compression.tokens).toBe(TOKENS_A_TEXT * texts.length);
}, 60_000);

test('what a session waited for that another may not pay it pays itself', async () => {
  const poor = await open();
  const rich = await open({}, poor);
  await database.asTenant(poor.tenantId, (tx) =>
    setSessionBudgets(tx, poor.bench.sessionId, [{ currency: 'USD', amount: 1 }]),
  );
  const execute = async (context: JobContext): Promise<void> => {
    const isPoor = context.job.sessionId === poor.bench.sessionId;
    try {
      await (isPoor ? poor : rich).rank(context, documents);
    } catch (error) {
      if (!(error instanceof FundsRefused)) throw error;
      await pauseForFunds(context, error.held);
    }
  };
  await withWorker(database, { EXECUTE: execute }, async () => {
    await Promise.all([poor.bench.enqueue(named('poor')), rich.bench.enqueue(named('rich'))]);
    await rich.bench.settled({ rich: 'completed' });
  });
  const [session] = await database.asTenant(rich.tenantId, (tx) =>
    tx.query<{ gates: string[] }>('select gates from sessions where id = $1', [
      rich.bench.sessionId,
    ]),
  );
  expect(session?.gates).toEqual([]);
  expect((await report(rich.bench)).compression.tokens).toBeGreaterThan(0);
}, 60_000);

test('another model embeds only what it is asked for, and both keep their vectors', async () => {
  const models = { [MODEL]: { price: { input: 2, output: 0 }, options: { dimensions: 3 } } };
  const { bench, rank } = await open(models);
  await work(bench, { few: (context) => rank(context, documents.slice(0, 2)) });
  const stored = await database.asTenant(bench.tenantId, (tx) =>
    tx.query('select distinct model from memory_vectors'),
  );
  expect(stored).toEqual([{ model: `${MODEL}@3` }]);
  expect(requests.flat().length).toBeLessThan(30);
}, 60_000);
