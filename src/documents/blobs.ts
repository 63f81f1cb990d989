import { hash } from 'node:crypto';
import type { TenantQueries, Transaction } from '../db/database.ts';
import { DialecticError } from '../errors/errors.ts';

/** The hash under which a text is stored. */
export const hashOf = (body: string | Uint8Array): string => hash('sha256', body, 'hex');

/** Stores a text under its hash, once, and returns the hash; it is not erased before the commit. */
export async function saveBlob(tx: Transaction, body: string): Promise<string> {
  const digest = hashOf(body);
  await tx.query(
    `insert into blobs (tenant_id, hash, body) select $1, $2, $3 from keep_texts()
     on conflict do nothing`,
    [tx.tenantId, digest, body],
    'save-blob',
  );
  return digest;
}

/** Stores texts, each once, and returns their hashes in the order of the texts. */
export async function saveBlobs(tx: Transaction, bodies: readonly string[]): Promise<string[]> {
  const digests = bodies.map((body) => hash('sha256', body, 'hex'));
  if (bodies.length === 0) return [];
  const texts = new Map(digests.map((digest, at) => [digest, bodies[at] ?? '']));
  // Sorted: of two transactions that store the same texts one waits, and neither deadlocks.
  await tx.query(
    `insert into blobs (tenant_id, hash, body)
     select $1, t.hash, t.body from keep_texts(), unnest($2::text[], $3::text[]) as t (hash, body)
     order by t.hash
     on conflict do nothing`,
    [tx.tenantId, [...texts.keys()], [...texts.values()]],
    'save-blobs',
  );
  return digests;
}

export async function readBlob(tx: TenantQueries, digest: string): Promise<string> {
  const [row] = await tx.query<{ body: string }>('select body from blobs where hash = $1', [
    digest,
  ]);
  if (!row) throw new DialecticError('not_found', `No stored text has the hash ${digest}.`);
  return row.body;
}
