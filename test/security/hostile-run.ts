import type { ServerResponse } from 'node:http';
import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { type ModelsConfig, readModelsConfig } from '../../src/models/config.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { Log } from '../../src/platform/log.ts';
import type { Stage } from '../../src/recipe/types.ts';
import { startRun } from '../../src/session/start.ts';
import { setBudget } from '../../src/wallet/ledger.ts';
import { untilRested } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';

export type Place = { readonly database: Database; readonly tenantId: string };

/** Answers the n-th request (from 1) of an attack. */
export type Attack = (response: ServerResponse, n: number, body: string) => void;

export const MAX_ATTEMPTS = 5;
/** Micro-dollars for one token. */
export const RATES = { input: 3, output: 15 };
const BUDGET_MICROS = 2_000_000;
const MODEL = 'compatible/hostile';
const SETTINGS = {
  maxAttempts: MAX_ATTEMPTS,
  firstRetryMs: 1,
  longestRetryMs: 5,
  maxTakeovers: 20,
};

/** What an attack came to. */
export type Outcome = Awaited<ReturnType<typeof playAttack>>;

/** Runs a process of one document, with a budget, against a server that attacks it. */
export async function playAttack(place: Place, attack: Attack, provider: object = {}) {
  let requests = 0;
  const server = await startServer((_, response, body) => attack(response, ++requests, body));
  try {
    const outcome = await runAgainst(place, server.url, provider);
    return { ...outcome, requests };
  } finally {
    await server.stop();
  }
}

/** The contract says how many words it asks for, as those of the shipped plans do. */
const shortly = (written: Stage): Stage => ({
  ...written,
  contracts: Object.fromEntries(
    Object.entries(written.contracts).map(([file, one]) => [file, { ...one, 'x-words': 500 }]),
  ),
});

/** The same against a server that runs elsewhere. */
export function runAgainst(place: Place, url: string, provider: object = {}) {
  const config = readModelsConfig(
    { DIALECTIC_BASE_URL: url, DIALECTIC_API_KEY: 'sk-canary-0123456789' },
    {
      providers: { compatible: provider },
      models: { [MODEL]: { maxOutputTokens: 2_000, windowTokens: 32_000, price: RATES } },
    },
  );
  return runWith(place, config);
}

/** The same with a configuration of the test's own, and what the worker logs. */
export async function runWith(place: Place, config: ModelsConfig, log: Log = () => {}) {
  const { database, tenantId } = place;
  const startedAt = performance.now();
  const draft = step('draft', 'EXECUTE', 'all_to_one', 'draft', ['seed:draft/']);
  const sessionId = await database.asTenant(tenantId, async (tx) => {
    const started = await startRun(tx, {
      name: 'Attacked',
      brief: 'Write about bread.',
      process: processOf('attacked', [shortly(stage('draft', [draft]))]),
      models: Object.keys(config.models),
    });
    const place = { scope: 'session', ownerId: started.sessionId, currency: 'USD' } as const;
    await setBudget(tx, { ...place, amount: BUDGET_MICROS });
    return started.sessionId;
  });
  const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
  const options = { pollMs: 50, settings: SETTINGS, log };
  const session = { tenantId: place.tenantId, sessionId };
  const worker = new Worker({ database, handlers, session, ...options });
  await worker.start();
  try {
    const { status, gates } = await untilRested(worker, database, session);
    const ms = Math.round(performance.now() - startedAt);
    const ended = gates.length > 0 ? gates.join() : status;
    return { sessionId, status: ended, ms, ...(await readOutcome(place, sessionId)) };
  } finally {
    await worker.stop();
  }
}

type Ledger = { sum: number; negative: number; held: number; charged: number; tokens: number };

function readOutcome({ database, tenantId }: Place, sessionId: string) {
  return database.asTenant(tenantId, async (tx) => {
    const key = [tenantId, sessionId];
    const errors = await tx.query<{ code: string; message: string }>(
      `select error->>'code' as code, error->>'message' as message from jobs
       where tenant_id = $1 and session_id = $2 and status = 'failed'
         and error->>'code' not in ('child_failed', 'quorum_missed')`,
      key,
    );
    const calls = await tx.query<{ status: string; estimated: boolean }>(
      `select status, usage_estimated as estimated from model_calls
       where tenant_id = $1 and session_id = $2 order by started_at, id`,
      key,
    );
    const [ledger] = await tx.query<Ledger>(
      `select coalesce(sum(e.amount), 0)::float8 as sum,
         count(*) filter (where a.kind = 'provider' and e.amount < 0)::int as negative,
         coalesce(sum(e.amount) filter (where a.kind = 'provider' and e.currency = 'USD'), 0)::float8
           as charged,
         coalesce(sum(e.amount) filter (where a.kind = 'provider' and e.currency = 'token'),
           0)::float8 as tokens,
         (select count(*) from holds h where h.tenant_id = $1 and h.session_id = $2
           and h.status = 'held')::int as held
       from postings p join entries e on e.tenant_id = p.tenant_id and e.posting_id = p.id
       join accounts a on a.tenant_id = e.tenant_id and a.id = e.account_id
       where p.tenant_id = $1 and p.session_id = $2`,
      key,
    );
    const documents = await tx.query<{ content: unknown; markdown: string | null }>(
      `select d.content, b.body as markdown from documents d
       left join blobs b on b.tenant_id = d.tenant_id and b.hash = d.markdown_hash
       where d.tenant_id = $1 and d.session_id = $2 and d.document_key = 'draft'
         and not d.superseded`,
      key,
    );
    return { errors, calls, ledger: ledger!, document: documents[0] };
  });
}

/** What must hold whatever a server does. */
export function findBreaches({ requests, errors, ledger, status }: Outcome): string[] {
  return [
    requests > 2 * MAX_ATTEMPTS && `${requests} requests`,
    ledger.sum !== 0 && `the ledger sums to ${ledger.sum}`,
    ledger.negative > 0 && `${ledger.negative} negative postings`,
    ledger.held > 0 && `${ledger.held} holds stay`,
    ledger.charged > BUDGET_MICROS && `${ledger.charged} charged`,
    errors.some(({ code }) => code === 'internal_error') && 'internal_error',
    status !== 'completed' && errors.length === 0 && `${status} without an error`,
  ].filter((breach) => breach !== false);
}
