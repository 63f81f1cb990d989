import { hash } from 'node:crypto';
import type { TenantQueries, Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';

/** The hash under which a text is stored. */
export const hashOf = (body: string | Uint8Array): string => hash('sha256', body, 'hex');

/** Stores a text under its hash, once, and returns the hash; it is not erased before the commit. */
export async function saveBlob(tx: Transaction, body: string): Promise<string> {
  const [digest = ''] = await saveBlobs(tx, [body]);
  return digest;
}

/**
 * Stores texts, each once, and returns their hashes in the order of the texts. Those that are given
 * together are sorted: of two transactions that store the same texts one waits, and neither deadlocks.
 */
export async function saveBlobs(tx: Transaction, bodies: readonly string[]): Promise<string[]> {
  const digests = bodies.map(hashOf);
  const texts = new Map(digests.map((digest, at) => [digest, bodies[at] ?? '']));
  const rows = [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const save = `insert into blobs (tenant_id, hash, body)
    select current_tenant(), t.hash, t.body
    from keep_texts(), unnest($1::text[], $2::text[]) as t (hash, body)
    order by t.hash
    on conflict do nothing`;
  for (const part of partsOf(rows)) {
    await Promise.all(part.map((row) => tx.queryForAll(save, row, 'save-blobs', 'texts')));
  }
  return digests;
}

/** A statement is in memory several times over until it is answered; more texts go with the next. */
const MOST_AT_ONCE = 8_000_000;

function partsOf(rows: readonly (readonly [string, string])[]): (readonly [string, string])[][] {
  const parts: (readonly [string, string])[][] = [];
  let left = 0;
  for (const row of rows) {
    left -= row[1].length;
    const last = parts.at(-1);
    if (last && left >= 0) last.push(row);
    else {
      parts.push([row]);
      left = MOST_AT_ONCE - row[1].length;
    }
  }
  return parts;
}

export async function readBlob(tx: TenantQueries, digest: string): Promise<string> {
  const [row] = await tx.query<{ body: string }>('select body from blobs where hash = $1', [
    digest,
  ]);
  if (!row) throw new DialecticError('not_found', `No stored text has the hash ${digest}.`);
  return row.body;
}
