import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/postgres-server.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { addFinished } from './run/add-finished.ts';
import { startModelServer } from './run/children.ts';
import { type Latency, type PlannedCall, shortestMs } from './run/plan.ts';
import {
  EVEN,
  measureAll,
  measureShortly,
  NONE,
  nameOf,
  ROUNDS,
  type Sample,
  SLOW,
  UNEVEN,
} from './run/samples.ts';
import { KEEPS_LOG_FILES, settleLog } from './run/settle-log.ts';
import { type Bench, hold, median, PEERS, planFile, SLOTS } from './run/subjects.ts';

const FINISHED = [10, 100, 1_000];

/** The own time of a call beside so many finished sessions, in milliseconds. */
async function measureGrowth(bench: Bench): Promise<number[]> {
  await bench.model.setLatency(NONE);
  const times: number[] = [];
  for (const finished of FINISHED) {
    const databaseUrl = await bench.server.createDatabase(`finished_${finished}`);
    const location = { databaseUrl };
    await hold(bench, 'PostgreSQL', 1, { location, isWarm: false });
    await addFinished(databaseUrl, finished - 1);
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { wallMs, calls } = await hold(bench, 'PostgreSQL', 1, { location });
      rounds.push(wallMs / calls);
    }
    times.push(median(rounds));
    process.stderr.write(`${finished} finished sessions: ${median(rounds).toFixed(1)} ms a call\n`);
  }
  return times;
}

type Plans = ReadonlyMap<number, readonly PlannedCall[]>;

/** The shortest time that the calls take by the plan's graph, the latency and the slots. */
const optimumMs = (plans: Plans, { participants, latency }: Sample): number =>
  shortestMs(plans.get(participants)!, SLOTS, latency);

function describe(plans: Plans, sample: Sample): Measurement[] {
  const { participants, latency, subject, wallMs, coldMs, debate } = sample;
  const calls = plans.get(participants)!.length;
  const people = participants === 1 ? '1 participant' : `${participants} participants`;
  const list: Measurement[] = [];
  const add = (metric: string, value: number, unit: string): void =>
    void list.push({
      metric: `${people}, ${calls} calls, ${nameOf(latency)}: ${metric}`,
      subject: PEERS[subject]?.title ?? subject,
      value,
      unit,
    });
  add('wall', wallMs / 1000, 's');
  if (latency.ms > 0) add('wall ÷ optimum', wallMs / optimumMs(plans, sample), '');
  else add('own time a call', wallMs / calls, 'ms');
  if (!debate || latency.ms > 0) return list;
  const first = plans.get(1)?.length;
  if (coldMs !== null && first)
    add('own time a call, first debate of its process', coldMs / first, 'ms');
  add('statements a call', debate.statements / calls, '');
  add('round trips a call', debate.roundTrips / calls, '');
  add('transactions a call', debate.transactions / calls, '');
  add('written to the log a call', debate.bytes / calls / 1024, 'KiB');
  add('processor time a call', debate.processorMs / calls, 'ms');
  add('peak memory', debate.peakMegabytes, 'MiB');
  return list;
}

async function readPlans(bench: Bench, counts: readonly number[]): Promise<Plans> {
  const plans = new Map<number, readonly PlannedCall[]>();
  for (const participants of counts) {
    const text = await readFile(planFile(bench, participants), 'utf8');
    plans.set(participants, JSON.parse(text) as PlannedCall[]);
  }
  return plans;
}

async function run(flags: readonly string[]) {
  const server = await startPostgres(KEEPS_LOG_FILES);
  await settleLog(server);
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-run-'));
  const model = await startModelServer();
  const brief = await readFile(new URL('../examples/bakery.md', import.meta.url), 'utf8');
  const bench: Bench = { server, model, folder, brief };
  try {
    if (flags.includes('--short')) {
      const samples = await measureShortly(bench);
      const plans = await readPlans(bench, [3]);
      const results = samples.flatMap((sample) => describe(plans, sample));
      return { results, ratios: compareStores(plans, samples) };
    }
    const samples = await measureAll(bench);
    const growth = await measureGrowth(bench);
    const plans = await readPlans(bench, [1, 2, 3]);
    const results = samples.flatMap((sample) => describe(plans, sample));
    for (const [at, finished] of FINISHED.entries()) {
      const sessions = `${finished.toLocaleString('en')} finished sessions in the store`;
      const metric = `own time a call, 1 participant, ${sessions}`;
      results.push({ metric, subject: 'PostgreSQL', value: growth[at]!, unit: 'ms' });
    }
    return { results, ratios: { ...compare(plans, samples), growth: growth[2]! / growth[0]! } };
  } finally {
    await model.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const findOf = (samples: readonly Sample[], latency: Latency, subject: string): Sample =>
  samples.find(
    (one) => one.participants === 3 && one.latency === latency && one.subject === subject,
  )!;

const besideOptimum = (plans: Plans, sample: Sample): number =>
  sample.wallMs / optimumMs(plans, sample);

/** Both stores with three participants. */
function compareStores(plans: Plans, samples: readonly Sample[]): Record<string, number> {
  const beside = (subject: string): number => besideOptimum(plans, findOf(samples, EVEN, subject));
  const own = (subject: string): number =>
    findOf(samples, NONE, subject).wallMs / plans.get(3)!.length;
  return {
    wall_vs_optimum_postgres: beside('PostgreSQL'),
    wall_vs_optimum_pglite: beside('PGlite'),
    own_ms_per_call_postgres: own('PostgreSQL'),
    own_ms_per_call_pglite: own('PGlite'),
  };
}

/** The same, with a slow model, with one whose calls differ, and beside the peers. */
function compare(plans: Plans, samples: readonly Sample[]): Record<string, number> {
  const optimum = (latency: Latency, subject: string): number =>
    besideOptimum(plans, findOf(samples, latency, subject));
  const peer = (latency: Latency, subject: string): number =>
    findOf(samples, latency, 'PostgreSQL').wallMs / findOf(samples, latency, subject).wallMs;
  return {
    ...compareStores(plans, samples),
    wall_vs_optimum_2s_postgres: optimum(SLOW, 'PostgreSQL'),
    wall_vs_optimum_2s_pglite: optimum(SLOW, 'PGlite'),
    wall_vs_optimum_uneven_postgres: optimum(UNEVEN, 'PostgreSQL'),
    wall_vs_optimum_uneven_pglite: optimum(UNEVEN, 'PGlite'),
    wall_vs_langgraph: peer(EVEN, 'langgraph'),
    wall_vs_langgraph_sync: peer(EVEN, 'langgraph-sync'),
    wall_vs_langgraph_uneven: peer(UNEVEN, 'langgraph'),
    wall_vs_langgraph_sync_uneven: peer(UNEVEN, 'langgraph-sync'),
    wall_vs_plain_script: peer(EVEN, 'plain-script'),
  };
}

export default {
  title: 'Run: a whole debate beside its optimum, LangGraph.js and a plain script',
  needsPeers: true,
  run,
} satisfies Benchmark;
