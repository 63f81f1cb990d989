import { parseArgs } from 'node:util';
import { type Embedded, likeness, normalise } from '../src/context/embedder.ts';
import { saveVectors } from '../src/context/memory.ts';
import { VectorScan } from '../src/context/vector-scan.ts';
import type { Benchmark, BenchResult, Measurement } from './frame.ts';
import { type Place, withStore } from './retrieval/store.ts';

const COUNT = 100_000;
/** How many of them are stored in PGlite, whose index is built by one thread of WebAssembly. */
const STORED = 20_000;
const OPTIONS = { stored: { type: 'string' }, write: { type: 'boolean' } } as const;
const DIMENSIONS = 384;
const CLUSTERS = 2_000;
const QUERIES = 50;
const EXACT_QUERIES = 20;
const TOP = 10;
const BATCH = 2_000;
/** Candidates that HNSW keeps while it searches. */
const EF_SEARCH = [40, 100, 200];
const MODEL = 'bench/384';

let state = 7;
/** A sequence that is the same on every machine. */
function chance(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const gauss = (): number => chance() + chance() + chance() + chance() - 2;
const randomVector = (): Float32Array =>
  normalise(Float32Array.from({ length: DIMENSIONS }, gauss));

/** A vector near another: sentences on one subject are about 0.6 alike. */
const near = (centre: Float32Array): Float32Array =>
  normalise(centre.map((value) => value + 1.3 * (gauss() / Math.sqrt(DIMENSIONS)) * 1.7));

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

async function timed<T>(work: () => T | Promise<T>, times: number[]): Promise<T> {
  const started = performance.now();
  const result = await work();
  times.push(performance.now() - started);
  return result;
}

/** The nearest by pgvector, as numbers of vectors. */
const nearest = (place: Place, query: Float32Array, setting: string) =>
  place.database.asTenant(place.tenantId, async (tx) => {
    await tx.query(setting);
    const rows = await tx.query<{ digest: string }>(
      `select digest from memory_vectors where model = $1 and dimensions = ${DIMENSIONS}
       order by vector::vector(${DIMENSIONS}) <#> $2::vector(${DIMENSIONS}) limit ${TOP}`,
      [MODEL, `[${query.join()}]`],
    );
    return rows.map(({ digest }) => Number(digest));
  });

const overlap = (found: readonly number[], exact: readonly number[]): number =>
  found.filter((one) => exact.includes(one)).length / exact.length;

async function fill(place: Place, chunks: readonly Embedded[]): Promise<void> {
  for (let from = 0; from < chunks.length; from += BATCH) {
    const batch = new Map(
      chunks.slice(from, from + BATCH).map(({ vector }, at) => [String(from + at), vector]),
    );
    await place.database.asTenant(place.tenantId, (tx) =>
      saveVectors(tx, place.projectId, MODEL, batch),
    );
  }
}

async function search(
  place: Place,
  queries: readonly Embedded[],
  exact: readonly number[][],
  setting: string,
) {
  const times: number[] = [];
  const shares: number[] = [];
  let same = 0;
  for (const [at, { vector }] of queries.entries()) {
    const found = await timed(() => nearest(place, vector, setting), times);
    shares.push(overlap(found, exact[at] ?? []));
    if (found.join() === exact[at]?.join()) same += 1 / queries.length;
  }
  const recall = shares.reduce((sum, one) => sum + one, 0) / shares.length;
  return { ms: median(times), recall, same };
}

/** Vectors of texts on a number of subjects, in one block of memory. */
function makeChunks(centres: readonly Float32Array[]): Embedded[] {
  const flat = new Float32Array(COUNT * DIMENSIONS);
  return Array.from({ length: COUNT }, (_, at) => {
    const vector = flat.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
    vector.set(near(centres[at % CLUSTERS] ?? vector));
    return { text: '', vector };
  });
}

/** The nearest to each query by the scan in process, and how long one takes. */
async function scan(chunks: readonly Embedded[], queries: readonly Embedded[]) {
  const times: number[] = [];
  const exact: number[][] = [];
  const packing: number[] = [];
  const vectors = await timed(() => new VectorScan(chunks), packing);
  for (const { vector } of queries) {
    const near = await timed(() => vectors.nearest(vector, TOP), times);
    exact.push(near.map(({ at }) => at));
  }
  return { exact, ms: median(times), packingMs: packing[0] ?? 0 };
}

const tell = (count: number): string => `ten nearest of ${count.toLocaleString('en')}, median`;

async function buildIndex({ database }: Place): Promise<number> {
  const times: number[] = [];
  const work = () =>
    database.transaction({ as: 'owner' }, async (tx) => {
      await tx.query(`set local maintenance_work_mem = '512MB'`);
      await tx.query(
        `create index on memory_vectors using hnsw ((vector::vector(${DIMENSIONS})) vector_ip_ops)
         where dimensions = ${DIMENSIONS}`,
      );
      await tx.query('analyze memory_vectors');
    });
  await timed(work, times);
  return (times[0] ?? 0) / 1000;
}

/** The same data in PGlite: its exact ranking, then HNSW's. */
async function searchStored(
  place: Place,
  stored: readonly Embedded[],
  queries: readonly Embedded[],
): Promise<BenchResult> {
  const { exact, ms } = await scan(stored, queries);
  const loading: number[] = [];
  await timed(() => fill(place, stored), loading);
  const metric = tell(stored.length);
  const plain = await search(place, queries.slice(0, EXACT_QUERIES), exact, 'select 1');
  const results: Measurement[] = [
    { metric, subject: 'scan in process', value: ms, unit: 'ms' },
    { metric: 'storing them', subject: 'PGlite', value: (loading[0] ?? 0) / 1000, unit: 's' },
    { metric, subject: 'pgvector, exact', value: plain.ms, unit: 'ms' },
    { metric: 'building the index', subject: 'HNSW', value: await buildIndex(place), unit: 's' },
  ];
  const ratios: Record<string, number> = { same_ranking_exact: plain.same };
  for (const ef of EF_SEARCH) {
    const found = await search(place, queries, exact, `set local hnsw.ef_search = ${ef}`);
    results.push({ metric, subject: `HNSW, ef_search ${ef}`, value: found.ms, unit: 'ms' });
    ratios[`recall_hnsw_${ef}`] = found.recall;
  }
  return { results, ratios };
}

/** `-- --stored 100000` puts all vectors into PGlite, whose index then takes ten minutes to build. */
async function run(flags: readonly string[]): Promise<BenchResult> {
  const { values } = parseArgs({ args: [...flags], options: OPTIONS });
  const stored = Number(values.stored ?? STORED);
  const centres = Array.from({ length: CLUSTERS }, randomVector);
  const chunks = makeChunks(centres);
  const queries = Array.from({ length: QUERIES }, (_, at): Embedded => {
    const centre = centres[(at * 37) % CLUSTERS] ?? new Float32Array(DIMENSIONS);
    return { text: '', vector: near(centre) };
  });
  const { exact, ms, packingMs } = await scan(chunks, queries);
  const alike = exact.map((all, at) => {
    const tenth = chunks[all.at(-1) ?? 0]?.vector ?? new Float32Array();
    return likeness(tenth, queries[at]?.vector ?? new Float32Array());
  });
  const database = await withStore((place) =>
    searchStored(place, chunks.slice(0, stored), queries),
  );
  const results: Measurement[] = [
    { metric: 'likeness to the tenth', subject: 'data', value: median(alike), unit: '' },
    { metric: tell(COUNT), subject: 'scan in process', value: ms, unit: 'ms' },
    {
      metric: `packing ${COUNT.toLocaleString('en')}, once for all questions`,
      subject: 'scan in process',
      value: packingMs,
      unit: 'ms',
    },
    ...database.results,
  ];
  return { results, ratios: database.ratios };
}

const benchmark: Benchmark = {
  title: 'Vectors: the exact scan beside pgvector (384 dimensions, 2,000 subjects)',
  run,
};

export default benchmark;
