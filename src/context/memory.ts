import { hash } from 'node:crypto';
import type { Transaction } from '../db/transaction.ts';

/** The digest of texts, each apart. */
export const digestOf = (...parts: readonly string[]): string =>
  hash('sha256', parts.join('\u0000'), 'hex');

/** Which of these texts a model has embedded before. */
export async function findEmbedded(
  tx: Transaction,
  model: string,
  digests: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ digest: string }>(
    'select digest from memory_vectors where model = $1 and digest = any ($2)',
    [model, digests],
  );
  return new Set(rows.map(({ digest }) => digest));
}

/** Vectors that are read at a time: 16 MB on the wire, at 512 numbers each. */
const READ_AT_ONCE = 4_000;

/** Reads the vectors of texts that a model has embedded before. */
export async function readVectors(
  tx: Transaction,
  model: string,
  digests: readonly string[],
): Promise<Map<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>();
  for (let from = 0; from < digests.length; from += READ_AT_ONCE) {
    const rows = await tx.query<{ digest: string; sent: Buffer }>(
      `select digest, array_send(vector) as sent from memory_vectors
       where model = $1 and digest = any ($2)`,
      [model, digests.slice(from, from + READ_AT_ONCE)],
    );
    for (const { digest, sent } of rows) vectors.set(digest, receiveVector(sent));
  }
  return vectors;
}

/** Stores vectors for whoever asks next; `projectId` is the last that used them. */
export async function saveVectors(
  tx: Transaction,
  projectId: string,
  model: string,
  vectors: ReadonlyMap<string, Float32Array>,
): Promise<void> {
  await tx.query(
    `insert into memory_vectors (tenant_id, digest, model, dimensions, vector, project_id)
     select $1, v.digest, $2, cardinality(v.numbers::real[]), v.numbers::real[], $3
     from unnest($4::text[], $5::text[]) as v (digest, numbers)
     order by v.digest
     on conflict (tenant_id, digest, model) do update set project_id = excluded.project_id
       where memory_vectors.project_id <> excluded.project_id`,
    [tx.tenantId, model, projectId, [...vectors.keys()], [...vectors.values()].map(toArray)],
  );
}

/** Reads texts that were shortened before. */
export async function readShortened(
  tx: Transaction,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.query<{ key: string; body: string }>(
    'select key, body from memory_shortened where key = any ($1)',
    [keys],
  );
  return new Map(rows.map(({ key, body }) => [key, body]));
}

/** Stores shortened texts before the call that they are made for. */
export async function saveShortened(
  tx: Transaction,
  projectId: string,
  texts: ReadonlyMap<string, string>,
): Promise<void> {
  await tx.query(
    `insert into memory_shortened (tenant_id, key, body, project_id)
     select $1, t.key, t.body, $2 from unnest($3::text[], $4::text[]) as t (key, body)
     order by t.key
     on conflict (tenant_id, key) do update set project_id = excluded.project_id
       where memory_shortened.project_id <> excluded.project_id`,
    [tx.tenantId, projectId, [...texts.keys()], [...texts.values()]],
  );
}

/** A PostgreSQL array of numbers; nine digits give every 32-bit number back as it was. */
export const toArray = (vector: Float32Array): string =>
  `{${Array.from(vector, (number) => (number === 0 ? '0' : number.toPrecision(9))).join()}}`;

/** PostgreSQL sends an array with 20 bytes in front, and the length of each number before it. */
const HEAD = 20;

/** The vector that `array_send` made bytes of, the highest byte first. */
export function receiveVector(sent: Buffer): Float32Array {
  const copy = new Uint8Array(sent.subarray(HEAD));
  Buffer.from(copy.buffer).swap32();
  const pairs = new Float32Array(copy.buffer);
  const vector = new Float32Array(pairs.length / 2);
  for (let at = 0; at < vector.length; at++) vector[at] = pairs[2 * at + 1] ?? 0;
  return vector;
}
