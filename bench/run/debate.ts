import { writeFileSync } from 'node:fs';
import { LocalDialectic } from '../../src/api/dialectic.ts';
import { describeTrace } from '../../src/cli/trace-text.ts';
import type { Database } from '../../src/db/database.ts';
import { openDatabase, type StoreLocation } from '../../src/db/open.ts';
import { ensureLocalTenant } from '../../src/db/tenants.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { tell } from './ask.ts';
import { readPlanOf } from './read-plan.ts';

/** What a process that holds one debate is started with. */
export type DebateTask = {
  readonly location: StoreLocation;
  readonly serverUrl: string;
  readonly brief: string;
  readonly participants: number;
  readonly slots: number;
  /** Whether the process holds another debate before, of one participant, which loads its modules. */
  readonly isWarm: boolean;
  /** Where the documents go. */
  readonly out: string;
  /** Where the calls with their needs are written. */
  readonly planFile: string;
  /** Where a trace is written, if anywhere; it takes some time itself. */
  readonly trace?: string | undefined;
};

/** What it tells when the debate is over. */
export type DebateResult = {
  readonly wallMs: number;
  /** The time of the debate before; null where there was none. */
  readonly coldMs: number | null;
  readonly calls: number;
  readonly statements: number;
  readonly transactions: number;
  readonly roundTrips: number;
  readonly bytes: number;
  readonly peakMegabytes: number;
  /** Processor time of this process, which on PGlite includes the database's. */
  readonly processorMs: number;
};

const task = JSON.parse(process.argv[2]!) as DebateTask;
const counts = { statements: 0, transactions: 0, roundTrips: 0 };
const database = await openDatabase(task.location, { backupEveryMs: 0 });
await countQueries(database);
const { tenantId } = await ensureLocalTenant(database);
const models = readModelsConfig({}, configure(task));
const store = { database, tenantId, models, jobs: DEFAULT_JOB_SETTINGS, log: console.error };
const dialectic = new LocalDialectic(store);

const coldMs = task.isWarm ? await holdFirst() : null;
const { session } = await dialectic.start({
  brief: task.brief,
  models: participants(task.participants),
  out: task.out,
});
// Neither the start of the process nor the reading of the recipe is counted.
const logged = await readLogPosition(database);
Object.assign(counts, { statements: 0, transactions: 0, roundTrips: 0 });
const started = performance.now();
const usedBefore = process.cpuUsage();
let status = 'running';
const { trace } = task;
for await (const event of dialectic.work(session, { concurrency: task.slots, trace })) {
  if (event.kind === 'trace-written') {
    for (const line of describeTrace(event)) process.stderr.write(`${line}\n`);
  }
  if (event.kind === 'run-rested') status = event.result.status;
}
const wallMs = performance.now() - started;
const counted = { ...counts };
const used = process.cpuUsage(usedBefore);
const processorMs = (used.user + used.system) / 1000;
if (status !== 'completed') throw new Error(`The debate is ${status}.`);
const bytes = (await readLogPosition(database)) - logged;
const plan = await database.asTenant(tenantId, (tx) => readPlanOf(tx, session));
writeFileSync(task.planFile, JSON.stringify(plan));
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
await dialectic.close();
tell({
  wallMs,
  coldMs,
  calls: plan.length,
  ...counted,
  bytes,
  peakMegabytes,
  processorMs,
} satisfies DebateResult);

/** The first debate of the process, without latency: it pays for all that is loaded and compiled. */
async function holdFirst(): Promise<number> {
  const { brief, out } = task;
  const first = await dialectic.start({ brief, models: ['now/p1'], out: `${out}-first` });
  const startedMs = performance.now();
  for await (const event of dialectic.work(first.session, { concurrency: task.slots })) {
    if (event.kind !== 'run-rested' || event.result.status === 'completed') continue;
    throw new Error(`The first debate is ${event.result.status}.`);
  }
  return performance.now() - startedMs;
}

function participants(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `loop/p${at + 1}`);
}

/** A provider with a price, so that money is held and posted as in a run that costs. */
function configure({ serverUrl, slots }: DebateTask) {
  const price = { input: 1, output: 4 };
  return {
    providers: {
      loop: { baseUrl: `${serverUrl}/v1`, apiKey: 'none', concurrency: slots },
      now: { baseUrl: `${serverUrl}/now/v1`, apiKey: 'none', concurrency: slots },
    },
    models: Object.fromEntries(
      [...participants(3), 'now/p1'].map((model) => [
        model,
        { price, windowTokens: 1_000_000, maxOutputTokens: 60_000 },
      ]),
    ),
  };
}

type Query = (...parameters: unknown[]) => unknown;

/**
 * Counts at the client library, through which both kinds of store are reached. Statements are counted by
 * their results: to look for them in the texts took a hundredth of the run.
 */
async function countQueries({ driver }: Database): Promise<void> {
  const held = await driver.acquire();
  const shared = Object.getPrototypeOf(held.client) as { query: Query };
  held.release();
  const { query } = shared;
  shared.query = function count(...parameters) {
    const [first] = parameters;
    const text = typeof first === 'string' ? first : ((first as { text?: string }).text ?? '');
    counts.roundTrips++;
    if (/^\s*begin\b/i.test(text)) counts.transactions++;
    const answered = Reflect.apply(query, this, parameters);
    if (answered instanceof Promise) answered.then(countResults, () => {});
    return answered;
  };
}

function countResults(results: unknown): void {
  counts.statements += Array.isArray(results) ? results.length : 1;
}

async function readLogPosition(of: Database): Promise<number> {
  const held = await of.driver.acquire();
  try {
    const { rows } = await held.client.query<{ at: number }>(
      "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as at",
    );
    return rows[0]!.at;
  } finally {
    held.release();
  }
}
