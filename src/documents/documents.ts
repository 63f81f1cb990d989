import type { TenantQueries, Transaction } from '../db/transaction.ts';
import { settleContribution } from '../planning/anchor.ts';
import type { Loss, PlannedJob, SourceDocument } from '../planning/types.ts';
import { newId } from '../platform/ids.ts';
import { hashOf, saveBlob, saveBlobs } from './blobs.ts';

type NewContribution = {
  /** Made here where absent. */
  readonly id?: string;
  readonly sessionId: string;
  readonly jobId: string;
  /** The first link of the job's chain of continuations. */
  readonly chainId: string;
  readonly text: string;
  readonly finishReason: string;
};

/** Saves what one model call gave back, as the next chunk of its chain. */
export async function saveContribution(tx: Transaction, chunk: NewContribution): Promise<string> {
  const { id = newId() } = chunk;
  const blob = hashOf(chunk.text);
  const saved = saveBlob(tx, chunk.text);
  const inserted = tx.queryForAll(
    `insert into contributions
       (tenant_id, id, session_id, job_id, chain_id, ordinal, blob_hash, finish_reason)
     select current_tenant(), n.id, n.session_id, n.job_id, n.chain_id, coalesce((
       select max(c.ordinal) from contributions c where c.chain_id = n.chain_id), 0) + 1,
       n.blob_hash, n.finish_reason
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[])
       as n (id, session_id, job_id, chain_id, blob_hash, finish_reason)`,
    [id, chunk.sessionId, chunk.jobId, chunk.chainId, blob, chunk.finishReason],
    'save-contributions',
    'chunks',
  );
  await Promise.all([saved, inserted]);
  return id;
}

type NewDocument = {
  /** Made here where absent. */
  readonly id?: string;
  readonly sessionId: string;
  readonly jobId: string;
  readonly planned: PlannedJob;
  /** The first chunk of the text that was accepted. */
  readonly contributionId: string;
  readonly content: unknown;
  /** As `readNextVersion` told it. */
  readonly version: number;
  /** Its Markdown as prompts show it; null where its step has no template. */
  readonly body: string | null;
  /** The page for people; null where there is none, or a RENDER job makes it later. */
  readonly page: string | null;
  /** What the audit of its citations found; null where it has none. */
  readonly citations?: object | null;
};

/** The version that the next document of a place will be. */
export async function readNextVersion(
  tx: TenantQueries,
  sessionId: string,
  identity: string,
): Promise<number> {
  const { version } = await tx.queryOne<{ version: number }>(
    `select coalesce(max(version), 0) + 1 as version from documents
     where session_id = $1 and identity = $2`,
    [sessionId, identity],
    'read-next-version',
  );
  return version;
}

/** Saves the assembled document of a finished chain as the newest version of its place. */
export async function saveDocument(tx: Transaction, document: NewDocument): Promise<string> {
  const { planned, contributionId, sessionId, id = newId(), citations = null } = document;
  const settled = settleContribution(planned, contributionId);
  const texts = [document.body, document.page].filter((text) => text !== null);
  const stored = saveBlobs(tx, texts);
  const row = [
    id,
    sessionId,
    planned.outputKind,
    planned.iteration,
    planned.stage,
    planned.step,
    planned.documentKey,
    planned.laneId,
    planned.identity,
    document.version,
    document.jobId,
    contributionId,
    settled.sourceGroup,
    JSON.stringify(settled.relationships),
    JSON.stringify(planned.inputs),
    JSON.stringify(document.content),
    JSON.stringify(planned.missing ?? []),
    document.body === null ? null : hashOf(document.body),
    citations === null ? null : JSON.stringify(citations),
    document.page === null ? null : hashOf(document.page),
  ];
  await Promise.all([
    stored,
    // The first version of a place has no other to replace.
    document.version > 1 && replaceDocument(tx, sessionId, planned.identity),
    tx.queryForAll(INSERT_DOCUMENTS, row, 'save-documents', 'documents'),
  ]);
  return id;
}

const INSERT_DOCUMENTS = `insert into documents (tenant_id, id, session_id, kind, iteration, stage_key,
    step_key, document_key, lane_id, identity, version, job_id, contribution_id, source_group,
    relationships, inputs, content, missing, body_hash, citations, markdown_hash)
  select current_tenant(), n.*
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[],
    $8::uuid[], $9::text[], $10::int[], $11::uuid[], $12::uuid[], $13::uuid[], $14::jsonb[],
    $15::jsonb[], $16::json[], $17::jsonb[], $18::text[], $19::jsonb[], $20::text[]) as n`;

const replaceDocument = (tx: Transaction, sessionId: string, identity: string): Promise<unknown> =>
  tx.queryForAll(
    `update documents d set superseded = true
     from unnest($1::uuid[], $2::text[]) as n (session_id, identity)
     where d.session_id = any ($1) and d.identity = any ($2) and not d.superseded
       and d.session_id = n.session_id and d.identity = n.identity`,
    [sessionId, identity],
    'replace-documents',
    'replacements',
  );

type DocumentRow = {
  id: string;
  identity: string;
  kind: SourceDocument['kind'];
  stage_key: string;
  document_key: string | null;
  iteration: number;
  lane_id: string | null;
  contribution_id: string | null;
  source_group: string | null;
  relationships: Record<string, string>;
  addressee: { stage: string; iteration: number } | null;
  missing: Loss[];
};

/** The current version of everything that the steps of a session can be given. */
export async function readSources(tx: TenantQueries, sessionId: string): Promise<SourceDocument[]> {
  const rows = await tx.query<DocumentRow>(
    `select id, identity, kind, stage_key, document_key, iteration, lane_id, contribution_id,
       source_group, relationships, null::jsonb as addressee, missing
     from documents where session_id = $1 and not superseded
     union all
     select f.id, 'feedback/' || f.iteration || '/' || f.stage_key || '/'
         || coalesce(d.identity, '') || '/' || f.id, 'feedback', f.stage_key,
       d.document_key, f.iteration, d.lane_id, null, d.source_group, '{}'::jsonb,
       case when r.id is not null
         then jsonb_build_object('stage', r.stage_key, 'iteration', r.iteration) end, '[]'::jsonb
     from feedback f join sessions s on s.tenant_id = f.tenant_id and s.id = f.session_id
     left join documents d on d.tenant_id = f.tenant_id and d.id = f.document_id
     left join stage_runs r on r.tenant_id = f.tenant_id and r.id = f.stage_run_id
     where f.session_id = $1
       -- What is said while a stage runs waits for the next one: inputs never depend on timing.
       and (f.iteration < s.iteration or f.stage_run_id is not null)
     union all
     select r.id, 'project_resource/' || r.kind || '/' || r.name, 'project_resource', null, r.kind,
       1, null, null, null, '{}'::jsonb, null, '[]'::jsonb
     from resources r join sessions s on s.tenant_id = r.tenant_id and s.project_id = r.project_id
     where s.id = $1`,
    [sessionId],
    'read-sources',
  );
  return rows.map((row) => ({
    id: row.id,
    identity: row.identity,
    kind: row.kind,
    stage: row.stage_key,
    documentKey: row.document_key,
    iteration: row.iteration,
    laneId: row.lane_id,
    contributionId: row.contribution_id,
    sourceGroup: row.source_group,
    relationships: row.relationships,
    addressee: row.addressee,
    missing: row.missing,
  }));
}
