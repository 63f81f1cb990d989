import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../test/postgres-server.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { measureClaims } from './jobs/claims.ts';
import { startFleet, stopFleet } from './jobs/fleet.ts';
import { measureLatency, measureNoops, measureTrees } from './jobs/measure.ts';

const ROUNDS = 3;
const TREES = 20;
const FINISHED = [10_000, 100_000, 1_000_000];

type Subject = {
  label: string;
  /** The file in jobs/ that runs it. */
  engine: string;
  /** How many no-op jobs a round has; none where only the trees differ from another subject. */
  noops: number;
  /** Whether it runs in a folder of its own, in one process, and not on the server. */
  isEmbedded?: boolean;
};

const OURS: Subject = { label: 'dialectic', engine: 'dialectic', noops: 20_000 };
const GRAPHILE: Subject = { label: 'graphile-worker', engine: 'graphile-worker', noops: 20_000 };
const BOSS: Subject = { label: 'pg-boss', engine: 'pg-boss', noops: 20_000 };
const GRAPHILE_BY_HAND: Subject = {
  label: 'graphile-worker, grouped by hand',
  engine: 'graphile-worker-by-hand',
  noops: 0,
};
const BOSS_BY_HAND: Subject = {
  label: 'pg-boss, flows resolved by hand',
  engine: 'pg-boss-by-hand',
  noops: 0,
};
const DBOS: Subject = { label: 'DBOS', engine: 'dbos', noops: 2_000 };
const SUBJECTS: readonly Subject[] = [
  OURS,
  { label: 'dialectic on PGlite', engine: 'dialectic', noops: 10_000, isEmbedded: true },
  GRAPHILE,
  GRAPHILE_BY_HAND,
  BOSS,
  BOSS_BY_HAND,
  DBOS,
];

/** All numbers of one metric and subject, one for each round. */
type Samples = Map<string, { metric: string; subject: string; unit: string; values: number[] }>;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!;

function note(samples: Samples, subject: string, metric: string, value: number, unit: string) {
  const key = `${metric}/${subject}`;
  const found = samples.get(key) ?? { metric, subject, unit, values: [] };
  found.values.push(value);
  samples.set(key, found);
  process.stderr.write(`${subject}: ${metric} ${value.toFixed(value < 100 ? 2 : 0)} ${unit}\n`);
}

/** One round of a subject on a database of its own, with fresh processes that are warmed up. */
async function runRound(samples: Samples, subject: Subject, url: string): Promise<void> {
  const { label, engine, noops, isEmbedded } = subject;
  for (const workers of isEmbedded ? (['embedded'] as const) : ([1, 4] as const)) {
    const isMany = workers !== 1;
    if (noops === 0 && !isMany) continue;
    const fleet = await startFleet(engine, url, workers);
    if (noops > 0) {
      await measureNoops(fleet, noops / 20);
      const count = workers === 4 ? 4 : 1;
      const metric = `no-op jobs, ${count} worker${count === 1 ? '' : 's'}`;
      note(samples, label, metric, await measureNoops(fleet, noops), '/s');
    }
    if (noops > 0 && workers !== 4) {
      const times = await measureLatency(fleet, 100);
      note(samples, label, 'enqueue to start, p50', percentile(times, 0.5), 'ms');
      note(samples, label, 'enqueue to start, p99', percentile(times, 0.99), 'ms');
    }
    if (isMany) {
      await measureTrees(fleet, 2);
      const metric = `${TREES} trees × 3 steps × 100 jobs`;
      note(samples, label, metric, await measureTrees(fleet, TREES), 's');
    }
    await stopFleet(fleet);
  }
}

async function runSubject(
  samples: Samples,
  server: PostgresServer,
  subject: Subject,
  name: string,
) {
  if (!subject.isEmbedded) {
    return runRound(samples, subject, await server.createDatabase(name));
  }
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-bench-'));
  await runRound(samples, subject, folder);
  await rm(folder, { recursive: true, force: true });
}

type Ratios = Record<string, number>;

const valueOf = (results: readonly Measurement[], start: string, { label }: Subject): number =>
  results.find(({ metric, subject }) => metric.startsWith(start) && subject === label)!.value;

function compareTrees(results: readonly Measurement[]): Ratios {
  const trees = (subject: Subject): number => valueOf(results, `${TREES} trees`, subject);
  return {
    trees_vs_graphile: trees(GRAPHILE) / trees(OURS),
    trees_vs_pgboss: trees(BOSS) / trees(OURS),
    trees_vs_graphile_by_hand: trees(GRAPHILE_BY_HAND) / trees(OURS),
    trees_vs_pgboss_by_hand: trees(BOSS_BY_HAND) / trees(OURS),
  };
}

function compare(results: readonly Measurement[], claims: readonly number[]): Ratios {
  const peers = [GRAPHILE, BOSS, DBOS].map((peer) => valueOf(results, 'no-op jobs, 4', peer));
  const trees = `${TREES} trees`;
  return {
    ...compareTrees(results),
    trees_vs_dbos: valueOf(results, trees, DBOS) / valueOf(results, trees, OURS),
    noop4_vs_best_peer: valueOf(results, 'no-op jobs, 4', OURS) / Math.max(...peers),
    claim_1e6_vs_1e4: claims[2]! / claims[0]!,
  };
}

/**
 * Rounds go through all subjects in turn and the median of each is kept, so that a busy minute of
 * the machine does not fall on one subject alone. With `--trees` only the trees are run.
 */
async function run(flags: readonly string[]) {
  const server = await startPostgres();
  const samples: Samples = new Map();
  const onlyTrees = flags.includes('--trees');
  if (onlyTrees && flags.includes('--write')) throw new Error('--trees is a part of the table.');
  const subjects = onlyTrees ? SUBJECTS.filter((one) => one !== DBOS).map(withoutNoops) : SUBJECTS;
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [index, subject] of subjects.entries()) {
      await runSubject(samples, server, subject, `bench_${index}_${round}`);
    }
  }
  const claims = onlyTrees ? [] : await measureClaims(server, FINISHED);
  await server.stop();
  const results: Measurement[] = [...samples.values()]
    .map(({ metric, subject, unit, values }) => ({ metric, subject, unit, value: median(values) }))
    .toSorted((a, b) => a.metric.localeCompare(b.metric));
  const costs = claims.map((value, index) => ({
    metric: `claim of 50 jobs beside ${FINISHED[index]!.toLocaleString('en')} finished`,
    subject: OURS.label,
    value,
    unit: 'ms',
  }));
  const ratios = onlyTrees ? compareTrees(results) : compare(results, claims);
  return { results: [...results, ...costs], ratios };
}

const withoutNoops = (subject: Subject): Subject => ({ ...subject, noops: 0 });

export default {
  title: 'Jobs: this engine beside graphile-worker, pg-boss and DBOS',
  needsPeers: true,
  run,
} satisfies Benchmark;
