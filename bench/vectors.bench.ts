import { type Embedded, likeness, normalise } from '../src/context/embedder.ts';
import { saveVectors } from '../src/context/memory.ts';
import { highest, scanVectors } from '../src/context/rank-chunks.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { type Place, withStore } from './retrieval/store.ts';

const COUNT = 100_000;
const DIMENSIONS = 384;
const CLUSTERS = 2_000;
const QUERIES = 50;
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
  for (const [at, { vector }] of queries.entries()) {
    const found = await timed(() => nearest(place, vector, setting), times);
    shares.push(overlap(found, exact[at] ?? []));
  }
  return { ms: median(times), recall: shares.reduce((sum, one) => sum + one, 0) / shares.length };
}

async function run() {
  const centres = Array.from({ length: CLUSTERS }, randomVector);
  const flat = new Float32Array(COUNT * DIMENSIONS);
  const chunks = Array.from({ length: COUNT }, (_, at): Embedded => {
    const vector = flat.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
    vector.set(near(centres[at % CLUSTERS] ?? vector));
    return { text: '', vector };
  });
  const queries = Array.from(
    { length: QUERIES },
    (_, at): Embedded => ({
      text: '',
      vector: near(centres[(at * 37) % CLUSTERS] ?? new Float32Array(DIMENSIONS)),
    }),
  );
  const scans: number[] = [];
  const exact: number[][] = [];
  for (const { vector } of queries) {
    const ranked = await timed(() => highest(scanVectors(chunks, vector), TOP), scans);
    exact.push(ranked);
  }
  const results: Measurement[] = [
    {
      metric: 'likeness to the tenth',
      subject: 'data',
      value: median(
        exact.map((all, at) =>
          likeness(
            chunks[all.at(-1) ?? 0]?.vector ?? new Float32Array(),
            queries[at]?.vector ?? new Float32Array(),
          ),
        ),
      ),
      unit: '',
    },
    {
      metric: 'ten nearest of 100,000, median',
      subject: 'scan in process',
      value: median(scans),
      unit: 'ms',
    },
  ];
  const ratios: Record<string, number> = {};
  await withStore(async (place) => {
    const loading: number[] = [];
    await timed(() => fill(place, chunks), loading);
    const plain = await search(place, queries.slice(0, 10), exact, 'select 1');
    results.push(
      {
        metric: 'storing 100,000 vectors',
        subject: 'PGlite',
        value: (loading[0] ?? 0) / 1000,
        unit: 's',
      },
      {
        metric: 'ten nearest of 100,000, median',
        subject: 'pgvector, exact',
        value: plain.ms,
        unit: 'ms',
      },
      { metric: 'recall at 10', subject: 'pgvector, exact', value: plain.recall, unit: '' },
    );
    const building: number[] = [];
    await timed(
      () =>
        place.database.transaction({ as: 'owner' }, async (tx) => {
          await tx.query(`set local maintenance_work_mem = '512MB'`);
          await tx.query(
            `create index on memory_vectors using hnsw ((vector::vector(${DIMENSIONS})) vector_ip_ops)
             where dimensions = ${DIMENSIONS}`,
          );
          await tx.query('analyze memory_vectors');
        }),
      building,
    );
    results.push({
      metric: 'building the index',
      subject: 'HNSW',
      value: (building[0] ?? 0) / 1000,
      unit: 's',
    });
    for (const ef of EF_SEARCH) {
      const { ms, recall } = await search(
        place,
        queries,
        exact,
        `set local hnsw.ef_search = ${ef}`,
      );
      results.push(
        {
          metric: 'ten nearest of 100,000, median',
          subject: `HNSW, ef_search ${ef}`,
          value: ms,
          unit: 'ms',
        },
        { metric: 'recall at 10', subject: `HNSW, ef_search ${ef}`, value: recall, unit: '' },
      );
      ratios[`recall_hnsw_${ef}`] = recall;
    }
  });
  return { results, ratios };
}

const benchmark: Benchmark = {
  title: 'Vectors: the exact scan beside pgvector (100,000 of 384 dimensions, in 2,000 subjects)',
  run,
};

export default benchmark;
