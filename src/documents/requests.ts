import type { Transaction } from '../db/database.ts';
import { saveBlobs } from './blobs.ts';
import { joinParts, type RequestPart, type StoredRequest, splitRequest } from './request-parts.ts';

type PartRow = {
  readonly call_id: string;
  readonly role: RequestPart['role'];
  readonly blob_hash: string;
};

/**
 * Stores the request of a call by its parts, each text once. Where it begins with all of the request
 * that the chain's last call sent, as that of every further turn does, it stores the rest alone.
 */
export async function saveRequest(
  tx: Transaction,
  callId: string,
  chainId: string,
  request: StoredRequest,
): Promise<void> {
  const parts = splitRequest(request);
  const texts = parts.map(({ text }) => text);
  const [hashes, before] = await Promise.all([saveBlobs(tx, texts), readLast(tx, callId, chainId)]);
  const isBegun = before.every(
    ({ role, blob_hash }, at) => role === parts[at]?.role && blob_hash === hashes[at],
  );
  const begun = isBegun ? before : [];
  const [first] = begun;
  const rest = parts.slice(begun.length);
  await tx.query(
    `with begun as (
       update model_calls set begins_with = $3 where id = $2 and $3::uuid is not null)
     insert into call_parts (tenant_id, call_id, ordinal, role, blob_hash)
     select $1, $2, p.ordinal, p.role, p.hash
     from unnest($4::int[], $5::text[], $6::text[]) as p (ordinal, role, hash)`,
    [
      tx.tenantId,
      callId,
      first?.call_id ?? null,
      rest.map((_, at) => begun.length + at),
      rest.map(({ role }) => role),
      hashes.slice(begun.length),
    ],
  );
}

/** The parts that the last call of the chain sent, under its id. */
const readLast = (tx: Transaction, callId: string, chainId: string): Promise<PartRow[]> =>
  tx.query<PartRow>(
    `select last.id as call_id, p.role, p.blob_hash from (
       select c.id from model_calls c
       join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
       where j.chain_id = $2 and c.id <> $1 and c.purpose <> 'embedding'
       order by c.id desc limit 1) as last,
       lateral request_parts(last.id) as p
     order by p.ordinal`,
    [callId, chainId],
  );

/** The requests of a session's calls by their ids. */
export async function readRequests(
  tx: Transaction,
  sessionId: string,
): Promise<ReadonlyMap<string, StoredRequest>> {
  const rows = await tx.query<PartRow>(
    `select c.id as call_id, p.role, p.blob_hash from model_calls c,
       lateral request_parts(c.id) as p
     where c.session_id = $1 order by c.id, p.ordinal`,
    [sessionId],
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
