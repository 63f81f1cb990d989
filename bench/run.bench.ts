import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../test/postgres-server.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { type ModelServer, runChild, startModelServer } from './run/children.ts';
import type { DebateResult } from './run/debate.ts';
import { countTurns, type PlannedCall } from './run/plan.ts';

const SLOTS = 50;
const SLOW_MS = 2_000;
const LATENCIES = [0, 200, SLOW_MS];
const ROUNDS = 3;
const STORES = ['PostgreSQL', 'PGlite'] as const;
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

/** One debate of the shipped process on a store of its own, in a process of its own. */
async function hold(bench: Bench, store: StoreName, participants: number): Promise<DebateResult> {
  const place = join(bench.folder, `debate-${++serial}`);
  const location =
    store === 'PGlite'
      ? { dataDirectory: join(place, 'data') }
      : { databaseUrl: await bench.server.createDatabase(`debate_${serial}`) };
  const result = await runChild<DebateResult>('debate', {
    location,
    serverUrl: bench.model.url,
    brief: bench.brief,
    participants,
    slots: SLOTS,
    out: join(place, 'out'),
    planFile: planFile(bench, participants),
  });
  await rm(place, { recursive: true, force: true });
  return result;
}

async function askPeer(bench: Bench, peer: string, participants: number): Promise<PeerResult> {
  const databaseUrl = await bench.server.createDatabase(`peer_${++serial}`);
  return runChild<PeerResult>(peer, {
    planFile: planFile(bench, participants),
    serverUrl: bench.model.url,
    databaseUrl,
    slots: SLOTS,
  });
}

/** What one latency gave for one number of participants; null where it was not measured. */
type Round = Readonly<Record<string, readonly number[]>>;

async function measure(bench: Bench, participants: number, latencyMs: number) {
  await bench.model.setLatency(latencyMs);
  const walls: Record<string, number[]> = {};
  const debates: Partial<Record<StoreName, DebateResult>> = {};
  const holdOn = async (store: StoreName): Promise<void> => {
    const result = await hold(bench, store, participants);
    debates[store] = result;
    (walls[store] ??= []).push(result.wallMs);
  };
  // What takes long varies little, and what is short is measured three times.
  const rounds = latencyMs === 0 && participants === 3 ? ROUNDS : 1;
  for (let round = 0; round < rounds; round++) {
    // Small debates with a slow model leave the machine idle, so that both stores work at once.
    if (latencyMs === SLOW_MS && participants < 3) await Promise.all(STORES.map(holdOn));
    else for (const store of STORES) await holdOn(store);
    if (participants < 3 || latencyMs === SLOW_MS) continue;
    for (const peer of ['langgraph', 'plain-script']) {
      (walls[peer] ??= []).push((await askPeer(bench, peer, participants)).wallMs);
    }
  }
  const calls = JSON.parse(await readFile(planFile(bench, participants), 'utf8')) as PlannedCall[];
  return { walls: walls as Round, debates, calls, turns: countTurns(calls, SLOTS) };
}

const NAMES: Readonly<Record<string, string>> = {
  langgraph: 'LangGraph.js, PostgreSQL checkpoints',
  'plain-script': 'Promise.all, nothing saved',
};

type Measured = Awaited<ReturnType<typeof measure>>;

function describe(participants: number, latencyMs: number, measured: Measured): Measurement[] {
  const { walls, debates, calls, turns } = measured;
  const at = `${participants} participants, ${calls.length} calls, ${latencyMs} ms`;
  const list: Measurement[] = [];
  for (const [subject, times] of Object.entries(walls)) {
    const name = NAMES[subject] ?? subject;
    const add = (metric: string, value: number, unit: string): void =>
      void list.push({ metric: `${at}: ${metric}`, subject: name, value, unit });
    const wallMs = median(times);
    add('wall', wallMs / 1000, 's');
    if (latencyMs > 0) add(`wall ÷ optimum (${turns} turns)`, wallMs / (turns * latencyMs), '');
    else add('own time a call', wallMs / calls.length, 'ms');
    const debate = debates[subject as StoreName];
    if (!debate || latencyMs > 0) continue;
    add('statements a call', debate.statements / calls.length, '');
    add('round trips a call', debate.roundTrips / calls.length, '');
    add('transactions a call', debate.transactions / calls.length, '');
    add('written to the log a call', debate.bytes / calls.length / 1024, 'KiB');
    add('peak memory', debate.peakMegabytes, 'MiB');
  }
  return list;
}

async function run() {
  const server = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-run-'));
  const model = await startModelServer();
  const brief = await readFile(new URL('../examples/bakery.md', import.meta.url), 'utf8');
  const bench: Bench = { server, model, folder, brief };
  const results: Measurement[] = [];
  const measured = new Map<number, Measured>();
  try {
    for (const participants of [1, 2, 3]) {
      // The first debate makes the answers that all others are given.
      await model.setLatency(0);
      await hold(bench, 'PostgreSQL', participants);
      const written = await model.countWritten();
      for (const latencyMs of LATENCIES) {
        const found = await measure(bench, participants, latencyMs);
        results.push(...describe(participants, latencyMs, found));
        if (participants === 3) measured.set(latencyMs, found);
        for (const [subject, times] of Object.entries(found.walls)) {
          process.stderr.write(
            `${participants} × ${latencyMs} ms, ${subject}: ${(median(times) / 1000).toFixed(2)} s\n`,
          );
        }
      }
      const again = (await model.countWritten()) - written;
      if (again > 0) throw new Error(`${again} requests differed from those of the first debate.`);
    }
  } finally {
    await model.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return { results, ratios: compare(measured) };
}

function compare(measured: ReadonlyMap<number, Measured>): Record<string, number> {
  const wall = (latencyMs: number, subject: string): number =>
    median(measured.get(latencyMs)!.walls[subject]!);
  const optimum = (latencyMs: number): number => measured.get(latencyMs)!.turns * latencyMs;
  const calls = measured.get(0)!.calls.length;
  return {
    wall_vs_optimum_postgres: wall(200, 'PostgreSQL') / optimum(200),
    wall_vs_optimum_pglite: wall(200, 'PGlite') / optimum(200),
    wall_vs_optimum_2s_postgres: wall(2_000, 'PostgreSQL') / optimum(2_000),
    wall_vs_optimum_2s_pglite: wall(2_000, 'PGlite') / optimum(2_000),
    wall_vs_langgraph: wall(200, 'PostgreSQL') / wall(200, 'langgraph'),
    wall_vs_plain_script: wall(200, 'PostgreSQL') / wall(200, 'plain-script'),
    own_ms_per_call_postgres: wall(0, 'PostgreSQL') / calls,
    own_ms_per_call_pglite: wall(0, 'PGlite') / calls,
  };
}

export default {
  title: 'Run: a whole debate beside its optimum, LangGraph.js and a plain script',
  needsPeers: true,
  run,
} satisfies Benchmark;
