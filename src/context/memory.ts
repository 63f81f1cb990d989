import { hash } from 'node:crypto';
import type { Transaction } from '../db/database.ts';
import type { Embedder } from './embedder.ts';

/** The digest of texts, each apart. */
export const digestOf = (...parts: readonly string[]): string =>
  hash('sha256', parts.join('\u0000'), 'hex');

/** Reads the vectors of texts that a model has embedded before. */
export async function readVectors(
  tx: Transaction,
  { model }: Embedder,
  digests: readonly string[],
): Promise<Map<string, Float32Array>> {
  const rows = await tx.query<{ digest: string; vector: Buffer }>(
    'select digest, vector from memory_vectors where model = $1 and digest = any ($2)',
    [model, digests],
  );
  return new Map(rows.map(({ digest, vector }) => [digest, fromBytes(vector)]));
}

/** Stores vectors for whoever asks next; `projectId` is the last that used them. */
export async function saveVectors(
  tx: Transaction,
  projectId: string,
  { model, dimensions }: Embedder,
  vectors: ReadonlyMap<string, Float32Array>,
): Promise<void> {
  await tx.query(
    `insert into memory_vectors (tenant_id, digest, model, dimensions, vector, project_id)
     select $1, v.digest, $2, $3, v.vector, $4
     from unnest($5::text[], $6::bytea[]) as v (digest, vector)
     order by v.digest
     on conflict (tenant_id, digest, model) do update set project_id = excluded.project_id
       where memory_vectors.project_id <> excluded.project_id`,
    [
      tx.tenantId,
      model,
      dimensions,
      projectId,
      [...vectors.keys()],
      [...vectors.values()].map(toBytes),
    ],
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

const toBytes = (vector: Float32Array): Buffer =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

function fromBytes(bytes: Buffer): Float32Array {
  const copy = new Uint8Array(bytes);
  return new Float32Array(copy.buffer, 0, copy.byteLength / 4);
}
