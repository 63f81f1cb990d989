import { hash } from 'node:crypto';
import type { Transaction } from '../db/database.ts';
import { DialecticError } from '../errors/errors.ts';

/** Stores a text under its hash, once, and returns the hash; it is not erased before the commit. */
export async function saveBlob(tx: Transaction, body: string): Promise<string> {
  const digest = hash('sha256', body, 'hex');
  await tx.query(
    `insert into blobs (tenant_id, hash, body) select $1, $2, $3 from keep_texts()
     on conflict do nothing`,
    [tx.tenantId, digest, body],
  );
  return digest;
}

export async function readBlob(tx: Transaction, digest: string): Promise<string> {
  const [row] = await tx.query<{ body: string }>('select body from blobs where hash = $1', [
    digest,
  ]);
  if (!row) throw new DialecticError('not_found', `No stored text has the hash ${digest}.`);
  return row.body;
}
