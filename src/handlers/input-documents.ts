import type { Database } from '../db/database.ts';
import type { TenantQueries } from '../db/transaction.ts';
import { hashOf } from '../documents/blobs.ts';
import type { PlannedInput, PlannedJob } from '../planning/types.ts';
import { nextTurn } from '../platform/clock.ts';
import { freezeDeep, onceFor, SizedMemo } from '../text/memo.ts';
import { keepOrigin } from './origins.ts';

type Row = {
  id: string;
  kind: string;
  stage_key: string;
  step_key: string | null;
  document_key: string | null;
  identity: string;
  lane_id: string | null;
  inputs: PlannedInput[];
  source_group: string | null;
  content: unknown;
  body_hash: string | null;
  /** The request as it was given, or the Markdown of a document; null where none is stored. */
  body: string | null;
};

/** The documents that a job was planned with, by their ids. */
export type InputDocuments = ReadonlyMap<string, Row>;

/** Reads all of a job's documents with their texts at once; those that are known are not read. */
export const readInputDocuments = (
  database: Database,
  reads: TenantQueries,
  { inputs }: Pick<PlannedJob, 'inputs'>,
): Promise<InputDocuments> =>
  readKept(
    keptDocuments(database),
    reads,
    inputs.flatMap(({ ids }) => ids),
  );

/** Some debates of the longest kind: a document is read by every lane and by most later steps. */
const MOST_CHARACTERS = 10_000_000;

/**
 * Documents of one database that jobs of this process have read or made. A document that is stored
 * never changes, but for marks that no prompt shows.
 */
const keptDocuments = onceFor((_database: Database) => new SizedMemo<Row>(MOST_CHARACTERS));

async function readKept(
  kept: SizedMemo<Row>,
  reads: TenantQueries,
  ids: readonly string[],
): Promise<InputDocuments> {
  const found = new Map<string, Row>();
  for (const id of ids) {
    const known = kept.get(`${reads.tenantId}/${id}`);
    if (known !== undefined) found.set(id, known);
  }
  const unknown = ids.filter((id) => !found.has(id));
  if (unknown.length === 0) return found;
  for (const row of await readRows(reads, unknown)) {
    found.set(row.id, row);
    if (isFinal(row)) keep(kept, reads.tenantId, row);
  }
  return found;
}

function keep(kept: SizedMemo<Row>, tenantId: string, row: Row): void {
  const characters = (row.body ?? JSON.stringify(row.content)).length;
  kept.keep(`${tenantId}/${row.id}`, freezeDeep(row), characters);
}

/** What is known of a document when it is made. */
type MadeDocument = Pick<Row, 'id' | 'content' | 'body'> & {
  readonly planned: PlannedJob;
  readonly contributionId: string;
};

/**
 * Keeps a document that is being saved as it will be read, so that the jobs behind it need not ask for
 * it. Should it not be saved after all, no job is ever given its id.
 */
export async function keepMade(
  database: Database,
  tenantId: string,
  { id, planned, contributionId, content, body }: MadeDocument,
): Promise<void> {
  // What is sent to the store in this turn goes first.
  await nextTurn();
  const { outputKind, stage, step, documentKey, identity, laneId, sourceGroup } = planned;
  if (sourceGroup === null) keepOrigin(database, tenantId, contributionId, laneId);
  const stored = { content, inputs: planned.inputs };
  keep(keptDocuments(database), tenantId, {
    ...(JSON.parse(JSON.stringify(stored)) as Pick<Row, 'content' | 'inputs'>),
    id,
    kind: outputKind,
    stage_key: stage,
    step_key: step,
    document_key: documentKey,
    identity,
    lane_id: laneId,
    source_group: sourceGroup ?? contributionId,
    body_hash: body === null ? null : hashOf(body),
    body: body === null ? null : body.toWellFormed(),
  });
}

/** A document of an earlier release gets its body when it is first read. */
const isFinal = ({ body, kind }: Row): boolean => body !== null || kind === 'header_context';

const readRows = (reads: TenantQueries, ids: readonly string[]): Promise<Row[]> =>
  reads.query<Row>(
    `select d.id, d.kind, d.stage_key, d.step_key, d.document_key, d.identity, d.lane_id,
       d.inputs, d.source_group, d.content, d.body_hash, b.body
     from documents d left join blobs b on b.tenant_id = d.tenant_id
       and b.hash = case d.kind when 'seed_prompt' then d.markdown_hash else d.body_hash end
     where d.id = any ($1)`,
    [ids],
    'read-inputs',
  );
