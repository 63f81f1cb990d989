import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../test/postgres-server.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { addFinished } from './run/add-finished.ts';
import type { PeerTask } from './run/ask.ts';
import { type ModelServer, runChild, startModelServer } from './run/children.ts';
import type { DebateResult, DebateTask } from './run/debate.ts';
import { countTurns, type PlannedCall } from './run/plan.ts';
import { KEEPS_LOG_FILES, settleLog } from './run/settle-log.ts';

const SLOTS = 50;
const SLOW_MS = 2_000;
const QUICK_MS = [0, 200];
const ROUNDS = 3;
const FINISHED = [10, 100, 1_000];
const STORES = ['PostgreSQL', 'PGlite'] as const;
type Peer = {
  readonly script: string;
  readonly title: string;
  readonly durability?: PeerTask['durability'];
};
const PEERS: Readonly<Record<string, Peer>> = {
  langgraph: {
    script: 'langgraph',
    title: 'LangGraph.js, PostgreSQL checkpoints, written while the next step runs',
    durability: 'async',
  },
  'langgraph-sync': {
    script: 'langgraph',
    title: 'LangGraph.js, PostgreSQL checkpoints, written before the next step',
    durability: 'sync',
  },
  'plain-script': { script: 'plain-script', title: 'Promise.all, nothing saved' },
};
type StoreName = (typeof STORES)[number];

type Bench = {
  readonly server: PostgresServer;
  readonly model: ModelServer;
  readonly folder: string;
  readonly brief: string;
};
type PeerResult = { wallMs: number; calls: number };

let serial = 0;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const planFile = ({ folder }: Bench, participants: number): string =>
  join(folder, `plan-${participants}.json`);

/** One debate of the shipped process in a process of its own, on a new store if none is named. */
async function hold(
  bench: Bench,
  store: StoreName,
  participants: number,
  given: Partial<DebateTask> = {},
): Promise<DebateResult> {
  const place = join(bench.folder, `debate-${++serial}`);
  const location =
    store === 'PGlite'
      ? { dataDirectory: join(place, 'data') }
      : { databaseUrl: await bench.server.createDatabase(`debate_${serial}`) };
  const task: DebateTask = {
    location,
    serverUrl: bench.model.url,
    brief: bench.brief,
    participants,
    slots: SLOTS,
    isWarm: true,
    out: join(place, 'out'),
    planFile: planFile(bench, participants),
    ...given,
  };
  const result = await runChild<DebateResult>('debate', task);
  await rm(place, { recursive: true, force: true });
  return result;
}

async function askPeer(bench: Bench, name: string, participants: number): Promise<PeerResult> {
  const { script, durability } = PEERS[name]!;
  const databaseUrl = await bench.server.createDatabase(`peer_${++serial}`);
  return runChild<PeerResult>(script, {
    planFile: planFile(bench, participants),
    serverUrl: bench.model.url,
    databaseUrl,
    slots: SLOTS,
    durability,
  } satisfies PeerTask);
}

/** What was measured of one subject at one latency. */
type Sample = {
  readonly participants: number;
  readonly latencyMs: number;
  readonly subject: string;
  readonly wallMs: number;
  /** Of the first debate of the process, with one participant; null where there was none. */
  readonly coldMs: number | null;
  readonly debate: DebateResult | null;
};

/** The median of several rounds; what takes long is measured once, since it varies little. */
async function measure(
  bench: Bench,
  subject: string,
  participants: number,
  latencyMs: number,
  rounds: number,
): Promise<Sample> {
  const results: DebateResult[] = [];
  const walls: number[] = [];
  for (let round = 0; round < rounds; round++) {
    if (subject in PEERS) walls.push((await askPeer(bench, subject, participants)).wallMs);
    else results.push(await hold(bench, subject as StoreName, participants));
  }
  const wallMs = median([...walls, ...results.map((result) => result.wallMs)]);
  const [debate = null] = results.filter((result) => result.wallMs === wallMs);
  const cold = results.flatMap((result) => result.coldMs ?? []);
  const coldMs = cold.length > 0 ? median(cold) : null;
  const seconds = (wallMs / 1000).toFixed(2);
  process.stderr.write(`${participants} × ${latencyMs} ms, ${subject}: ${seconds} s\n`);
  return { participants, latencyMs, subject, wallMs, coldMs, debate };
}

async function measureAll(bench: Bench): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const participants of [1, 2, 3]) {
    // The first debate records the answers that all others are given.
    await bench.model.setLatency(0);
    await hold(bench, 'PostgreSQL', participants, { isWarm: false });
    for (const latencyMs of QUICK_MS) {
      await bench.model.setLatency(latencyMs);
      const subjects = [...STORES, ...(participants === 3 ? Object.keys(PEERS) : [])];
      for (const subject of subjects) {
        const rounds = participants === 3 ? ROUNDS : 1;
        samples.push(await measure(bench, subject, participants, latencyMs, rounds));
      }
    }
  }
  await bench.model.setLatency(SLOW_MS);
  const slow = (subject: string, participants: number): Promise<Sample> =>
    measure(bench, subject, participants, SLOW_MS, 1);
  // Small debates with a slow model leave the machine idle, so that they are held at once.
  const small = STORES.flatMap((store) => [slow(store, 1), slow(store, 2)]);
  samples.push(...(await Promise.all(small)));
  for (const store of STORES) samples.push(await slow(store, 3));
  return samples;
}

/** Three participants, once on each store without latency and with a little. */
async function measureShortly(bench: Bench): Promise<Sample[]> {
  await bench.model.setLatency(0);
  await hold(bench, 'PostgreSQL', 3, { isWarm: false });
  const samples: Sample[] = [];
  for (const latencyMs of QUICK_MS) {
    await bench.model.setLatency(latencyMs);
    for (const store of STORES) samples.push(await measure(bench, store, 3, latencyMs, 1));
  }
  return samples;
}

/** The own time of a call beside so many finished sessions, in milliseconds. */
async function measureGrowth(bench: Bench): Promise<number[]> {
  await bench.model.setLatency(0);
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
const optimumMs = (plans: Plans, { participants, latencyMs }: Sample): number =>
  countTurns(plans.get(participants)!, SLOTS) * latencyMs;

function describe(plans: Plans, sample: Sample): Measurement[] {
  const { participants, latencyMs, subject, wallMs, coldMs, debate } = sample;
  const calls = plans.get(participants)!.length;
  const people = participants === 1 ? '1 participant' : `${participants} participants`;
  const list: Measurement[] = [];
  const add = (metric: string, value: number, unit: string): void =>
    void list.push({
      metric: `${people}, ${calls} calls, ${latencyMs} ms: ${metric}`,
      subject: PEERS[subject]?.title ?? subject,
      value,
      unit,
    });
  add('wall', wallMs / 1000, 's');
  if (latencyMs > 0) add('wall ÷ optimum', wallMs / optimumMs(plans, sample), '');
  else add('own time a call', wallMs / calls, 'ms');
  if (!debate || latencyMs > 0) return list;
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

const findOf = (samples: readonly Sample[], latencyMs: number, subject: string): Sample =>
  samples.find(
    (one) => one.participants === 3 && one.latencyMs === latencyMs && one.subject === subject,
  )!;

const besideOptimum = (plans: Plans, sample: Sample): number =>
  sample.wallMs / optimumMs(plans, sample);

/** Both stores with three participants. */
function compareStores(plans: Plans, samples: readonly Sample[]): Record<string, number> {
  const beside = (subject: string): number => besideOptimum(plans, findOf(samples, 200, subject));
  const own = (subject: string): number =>
    findOf(samples, 0, subject).wallMs / plans.get(3)!.length;
  return {
    wall_vs_optimum_postgres: beside('PostgreSQL'),
    wall_vs_optimum_pglite: beside('PGlite'),
    own_ms_per_call_postgres: own('PostgreSQL'),
    own_ms_per_call_pglite: own('PGlite'),
  };
}

/** The same, with a slow model and beside the peers. */
function compare(plans: Plans, samples: readonly Sample[]): Record<string, number> {
  const slow = (subject: string): number => besideOptimum(plans, findOf(samples, SLOW_MS, subject));
  const { wallMs } = findOf(samples, 200, 'PostgreSQL');
  return {
    ...compareStores(plans, samples),
    wall_vs_optimum_2s_postgres: slow('PostgreSQL'),
    wall_vs_optimum_2s_pglite: slow('PGlite'),
    wall_vs_langgraph: wallMs / findOf(samples, 200, 'langgraph').wallMs,
    wall_vs_langgraph_sync: wallMs / findOf(samples, 200, 'langgraph-sync').wallMs,
    wall_vs_plain_script: wallMs / findOf(samples, 200, 'plain-script').wallMs,
  };
}

export default {
  title: 'Run: a whole debate beside its optimum, LangGraph.js and a plain script',
  needsPeers: true,
  run,
} satisfies Benchmark;
