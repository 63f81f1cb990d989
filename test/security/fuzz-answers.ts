import type { ServerResponse } from 'node:http';
import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { execute } from '../../src/handlers/execute.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { enqueueJobs } from '../../src/jobs/enqueue.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { startRun } from '../../src/session/start.ts';
import { seeded } from '../chaos/crash-jobs.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { DONE, delta, event, GOOD_TEXT } from './answer-events.ts';

type Chance = () => number;

const pick = <T>(chance: Chance, list: readonly T[]): T =>
  list[Math.floor(chance() * list.length)]!;
const below = (chance: Chance, most: number): number => Math.floor(chance() * most);

const NUMBERS = [
  -1,
  0,
  0.5,
  1,
  10.5,
  90,
  2_001,
  1e9,
  2 ** 53,
  1e18,
  1e300,
  -1e18,
  null,
  '7',
  [],
  {},
];
const FINISHES = [
  'stop',
  'length',
  'content_filter',
  'tool_calls',
  'error',
  'eos',
  'vibes',
  '',
  null,
  '\0',
];
const TOKENS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\0',
  '\ud800',
  '\\u0000',
  '```',
  'null',
  '1e999',
  '\x1b[2J',
  '{"text":',
  '"__proto__":',
  '\n',
];

/** Changes the JSON that the model is said to have written. */
function fuzzText(chance: Chance): string {
  let text =
    chance() < 0.3 ? JSON.stringify({ content: JSON.parse(GOOD_TEXT) as object }) : GOOD_TEXT;
  for (let edits = below(chance, 4); edits > 0; edits--) {
    const at = below(chance, text.length + 1);
    const length = below(chance, 12);
    const piece = chance() < 0.7 ? pick(chance, TOKENS) : text.slice(at, at + length).repeat(3);
    text = text.slice(0, at) + piece + text.slice(at + (chance() < 0.5 ? length : 0));
  }
  return chance() < 0.15 ? text.slice(0, below(chance, text.length)) : text;
}

function fuzzUsage(chance: Chance): unknown {
  const usage = {
    prompt_tokens: pick(chance, NUMBERS),
    completion_tokens: pick(chance, NUMBERS),
    total_tokens: pick(chance, NUMBERS),
    prompt_tokens_details: { cached_tokens: pick(chance, NUMBERS) },
  };
  return chance() < 0.9 ? usage : pick(chance, NUMBERS);
}

/** The bytes of one answer: text, finish reason and usage, then damage to any byte of them. */
function fuzzBody(chance: Chance): Buffer {
  const text = fuzzText(chance);
  const cut = below(chance, text.length);
  const events = [
    delta(text.slice(0, cut)),
    delta(text.slice(cut)),
    delta('', pick(chance, FINISHES)),
  ];
  if (chance() < 0.6) events.push(event({ choices: [], usage: fuzzUsage(chance) }));
  events.push(DONE);
  const body = Buffer.from(events.filter(() => chance() > 0.04).join(''));
  if (chance() < 0.3) {
    for (let flips = 1 + below(chance, 5); flips > 0; flips--) {
      body[below(chance, body.length)] = below(chance, 256);
    }
  }
  return chance() < 0.1 ? body.subarray(0, below(chance, body.length)) : body;
}

function play(response: ServerResponse, chance: Chance): void {
  if (chance() < 0.05) {
    response.writeHead(pick(chance, [400, 408, 409, 413, 429, 500, 503]), {
      'content-type': pick(chance, ['application/json', 'text/html']),
    });
    response.end(fuzzText(chance));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const body = fuzzBody(chance);
  if (chance() < 0.03) response.write(body, () => response.destroy());
  else response.end(body);
}

const ENDED = `status in ('completed', 'failed') and not continued`;

/** Lets one session ask until so many fuzzed answers were given; returns what became of them. */
export async function fuzzAnswers(
  place: { readonly database: Database; readonly tenantId: string },
  { answers, seed }: { readonly answers: number; readonly seed: number },
) {
  const { database, tenantId } = place;
  const chance = seeded(seed);
  let given = 0;
  const server = await startServer((_, response) => {
    given++;
    play(response, chance);
  });
  const draft = step('draft', 'EXECUTE', 'all_to_one', 'draft', ['seed:draft/']);
  const process = processOf('fuzzed', [stage('draft', [draft])]);
  const run = { name: 'Fuzzed', brief: 'Write about bread.', process };
  const model = 'compatible/fuzzed';
  const { sessionId } = await database.asTenant(tenantId, (tx) =>
    startRun(tx, { ...run, models: [model] }),
  );
  const config = readModelsConfig(
    { DIALECTIC_BASE_URL: server.url },
    { models: { [model]: { maxOutputTokens: 2_000, price: { input: 3, output: 15 } } } },
  );
  // Without the circuit breaker, which would wait after five faults in a row.
  const provider = {
    generate: (...call: Parameters<ReturnType<typeof createModelProvider>['generate']>) =>
      createModelProvider(config).generate(...call),
  };
  const deps = { database, config, provider };
  const planned = Promise.withResolvers<void>();
  /** The job that the stage planned keeps the session running while copies of it are asked for. */
  const copyJob = async ({ job }: JobContext): Promise<void> => {
    const original = job.payload['planned'] as PlannedJob;
    for (let n = 0; given < answers; ) {
      const copies = Array.from({ length: 25 }, () => ({
        tenantId,
        sessionId,
        type: 'EXECUTE' as const,
        payload: { planned: { ...original, identity: `${original.identity}/${n++}` }, copy: true },
      }));
      await database.asTenant(tenantId, (tx) => enqueueJobs(tx, copies));
      await untilEnded(place, sessionId, n);
    }
    planned.resolve();
  };
  const handlers = {
    ...createHandlers(deps),
    EXECUTE: (context: JobContext) =>
      'copy' in context.job.payload || context.job.chainId !== context.job.id
        ? execute(deps, context)
        : copyJob(context),
  };
  const settings = { maxAttempts: 2, firstRetryMs: 1, longestRetryMs: 2, maxTakeovers: 3 };
  const worker = new Worker({ database, handlers, pollMs: 20, settings, log: () => {} });
  await worker.start();
  try {
    await planned.promise;
  } finally {
    await worker.stop();
    await server.stop();
  }
  return { given, ...(await readOutcome(place, sessionId)) };
}

async function untilEnded(
  { database, tenantId }: { readonly database: Database; readonly tenantId: string },
  sessionId: string,
  wanted: number,
): Promise<void> {
  for (;;) {
    const [row] = await database.asTenant(tenantId, (tx) =>
      tx.query<{ n: number }>(
        `select count(*)::int as n from jobs where tenant_id = $1 and session_id = $2
           and job_type = 'EXECUTE' and stage_run_id is null and ${ENDED}`,
        [tenantId, sessionId],
      ),
    );
    if (row!.n >= wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function readOutcome(
  { database, tenantId }: { readonly database: Database; readonly tenantId: string },
  sessionId: string,
) {
  return database.asTenant(tenantId, async (tx) => {
    const key = [tenantId, sessionId];
    const ends = await tx.query<{ code: string; n: number }>(
      `select coalesce(error->>'code', 'saved') as code, count(*)::int as n from jobs
       where tenant_id = $1 and session_id = $2 and stage_run_id is null and ${ENDED}
         and job_type = 'EXECUTE' group by 1 order by 2 desc`,
      key,
    );
    const [ledger] = await tx.query<Record<'sum' | 'negative' | 'held' | 'open', number>>(
      `select coalesce(sum(e.amount), 0)::float8 as sum,
         count(*) filter (where a.kind = 'provider' and e.amount < 0)::int as negative,
         (select count(*) from holds h where h.tenant_id = $1 and h.session_id = $2
           and h.status = 'held')::int as held,
         (select count(*) from model_calls c where c.tenant_id = $1 and c.session_id = $2
           and c.status = 'sent')::int as open
       from postings p join entries e on e.tenant_id = p.tenant_id and e.posting_id = p.id
       join accounts a on a.tenant_id = e.tenant_id and a.id = e.account_id
       where p.tenant_id = $1 and p.session_id = $2`,
      key,
    );
    const [paid] = await tx.query<{ unpaid: number }>(
      `select count(*)::int as unpaid from model_calls c where c.tenant_id = $1
         and c.session_id = $2 and c.contribution_id is not null and not exists (
           select from postings p where p.tenant_id = $1 and p.call_id = c.id)`,
      key,
    );
    return { ends, ledger: { ...ledger!, ...paid! } };
  });
}
