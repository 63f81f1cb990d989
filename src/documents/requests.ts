import type { Transaction } from '../db/transaction.ts';
import { toDialecticError } from '../errors/errors.ts';
import { hashOf, saveBlobs } from './blobs.ts';
import { joinParts, type RequestPart, type StoredRequest, splitRequest } from './request-parts.ts';
import type { StoredTexts } from './stored-texts.ts';

type PartRow = {
  readonly call_id: string;
  readonly role: RequestPart['role'];
  readonly blob_hash: string;
};

/** The parts of a request with the hashes of their texts. */
export type HashedParts = readonly (RequestPart & { readonly hash: string })[];

/** Takes a request apart for `saveRequest`. */
export const hashParts = (request: StoredRequest): HashedParts =>
  splitRequest(request).map((part) => ({ ...part, hash: hashOf(part.text) }));

/**
 * Stores the request of a call by its parts, each text once; those that are stored already are not
 * sent. Where it begins with all of the request that the chain's last call sent, as that of every
 * further turn does, it stores the rest alone.
 */
export async function saveRequest(
  tx: Transaction,
  callId: string,
  chainId: string,
  parts: HashedParts,
  stored: StoredTexts,
): Promise<void> {
  const unsent = parts.filter(({ hash }) => stored.mustSend(tx, hash)).map(({ text }) => text);
  const noted = JSON.stringify(parts.map(({ role, hash }) => [role, hash]));
  // Given before any of them is awaited, the statements take one round trip.
  await Promise.all([
    saveBlobs(tx, unsent),
    tx.queryForAll(
      'select note_requests($1, $2, $3)',
      [callId, chainId, noted],
      'note-requests',
      'requests',
    ),
  ]);
}

/** Whether a text of a request is not stored any more. */
export const missesText = (error: unknown): boolean =>
  toDialecticError(error).details['constraint'] === 'call_parts_tenant_id_blob_hash_fkey';

/** The requests of a session's calls by their ids; of all its calls where none are named. */
export async function readRequests(
  tx: Transaction,
  sessionId: string,
  calls: readonly string[] | null = null,
): Promise<ReadonlyMap<string, StoredRequest>> {
  const rows = await tx.query<PartRow>(
    `select c.id as call_id, p.role, p.blob_hash from model_calls c,
       lateral request_parts(c.id) as p
     where c.session_id = $1 and ($2::uuid[] is null or c.id = any ($2))
     order by c.id, p.ordinal`,
    [sessionId, calls],
  );
  const texts = await readTexts(tx, rows);
  const requests = new Map<string, StoredRequest>();
  for (const [callId, parts] of Map.groupBy(rows, (row) => row.call_id)) {
    const whole = parts.map(({ role, blob_hash }) => ({ role, text: texts.get(blob_hash) ?? '' }));
    requests.set(callId, joinParts(whole));
  }
  return requests;
}

async function readTexts(
  tx: Transaction,
  rows: readonly PartRow[],
): Promise<ReadonlyMap<string, string>> {
  const hashes = [...new Set(rows.map(({ blob_hash }) => blob_hash))];
  const found = await tx.query<{ hash: string; body: string }>(
    'select hash, body from blobs where hash = any ($1)',
    [hashes],
  );
  return new Map(found.map(({ hash, body }) => [hash, body]));
}
