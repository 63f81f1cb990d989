import type { Database, TenantQueries } from '../db/database.ts';
import { readBlob } from '../documents/blobs.ts';
import { DialecticError } from '../errors/errors.ts';
import { isShownRendered, showSections } from '../generation/document-text.ts';
import { stripFields } from '../generation/fill-fields.ts';
import type { JobInput } from '../generation/job-input.ts';
import { optionLabel, rivalsByLabel } from '../planning/deal-labels.ts';
import type { PlannedInput, PlannedJob } from '../planning/types.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import { describeDocument, requireContract } from '../recipe/contract.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import type { Process } from '../recipe/types.ts';
import type { SessionView } from '../session/read.ts';
import { requireRecord } from '../text/is-record.ts';
import { readBody } from './read-body.ts';

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

/** Reads all of a job's documents with their texts at once. */
export async function readInputDocuments(
  tx: TenantQueries,
  { inputs }: Pick<PlannedJob, 'inputs'>,
): Promise<InputDocuments> {
  const rows = await tx.query<Row>(
    `select d.id, d.kind, d.stage_key, d.step_key, d.document_key, d.identity, d.lane_id,
       d.inputs, d.source_group, d.content, d.body_hash, b.body
     from documents d left join blobs b on b.tenant_id = d.tenant_id
       and b.hash = case d.kind when 'seed_prompt' then d.markdown_hash else d.body_hash end
     where d.id = any ($1)`,
    [inputs.flatMap(({ ids }) => ids)],
    'read-inputs',
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The lineage of a document: a proposal and what is written on it share it. */
export type Lineage = {
  readonly sourceGroup?: string | null;
  readonly letter?: string | undefined;
};

/** An input before its place among the others is known. */
type LoadedInput = Omit<JobInput, 'name' | 'type' | 'label' | 'place'> & Lineage;

/** Loads one input: a document, what a person said, or a resource of the project. */
export async function loadInput(
  database: Database,
  reads: TenantQueries,
  session: SessionView,
  laneId: string,
  id: string,
  type: JobInput['type'],
  documents: InputDocuments,
): Promise<LoadedInput> {
  const { process } = session;
  if (type === 'feedback') return loadFeedback(reads, process, id);
  if (type === 'project_resource') return loadResource(reads, id);
  const row = documents.get(id);
  if (!row) throw new DialecticError('not_found', `There is no document ${id}.`);
  const at = process.stages.findIndex((one) => one.key === row.stage_key);
  const order = `${String(at).padStart(3, '0')}/${row.identity}`;
  const base = { stage: row.stage_key, document_key: row.document_key ?? '', order };
  if (row.kind === 'seed_prompt' && row.body !== null) {
    return { ...base, title: 'The request', text: row.body, content: null };
  }
  const stage = stageOf(process, row.stage_key);
  const step = stepOf(stage, row.step_key);
  const contract = requireContract(stage, step);
  const content = stripFields(contract, row.content);
  const body = isShownRendered(step, type)
    ? (row.body ??
      (await database.asTenant(reads.tenantId, (tx) => readBody(tx, process, stage, step, row))))
    : showSections(type, requireRecord(content));
  const rivals = rivalsInput(process, step) ? rivalsByLabel(process, row.inputs) : [];
  const ownLabel = await findOwnLabel(reads, laneId, rivals);
  // Labels are dealt anew for each ballot, so that a reader must be told whom they mean.
  const text = ownLabel ? `(In this document ${ownLabel} is your plan.)\n\n${body}` : body;
  const writer = session.lanes.find(({ id: lane }) => lane === row.lane_id)?.model ?? '';
  const { title } = describeDocument(stage, step);
  const sourceGroup = row.source_group;
  const made = { ...base, sourceGroup, title, text, content, contract, writer };
  return { ...made, ...(ownLabel && { ownLabel }) };
}

async function findOwnLabel(
  tx: TenantQueries,
  laneId: string,
  rivals: readonly string[],
): Promise<string | undefined> {
  if (rivals.length < 2) return undefined;
  const [own] = await tx.query<{ id: string }>(
    'select id from documents where id = any ($1) and lane_id = $2',
    [rivals, laneId],
  );
  return own && optionLabel(rivals.indexOf(own.id));
}

type FeedbackRow = {
  stage_key: string;
  document_key: string | null;
  question: string | null;
  body: string;
};

async function loadFeedback(tx: TenantQueries, process: Process, id: string): Promise<LoadedInput> {
  const { stage_key, document_key, question, body } = await tx.queryOne<FeedbackRow>(
    `select f.stage_key, d.document_key, f.question, f.body from feedback f
     left join documents d on d.tenant_id = f.tenant_id and d.id = f.document_id
     where f.id = $1`,
    [id],
  );
  const stage = stageOf(process, stage_key);
  const step = stage.steps.find((one) => one.output.documentKey === document_key);
  const subject = step ? describeDocument(stage, step).title : stage.name;
  return {
    stage: stage_key,
    document_key: document_key ?? '',
    order: `998/${id}`,
    title: question ? `Answer on ${subject}` : `Feedback on ${subject}`,
    text: question ? `Question: ${question}\nAnswer: ${body}` : body,
    content: null,
  };
}

async function loadResource(tx: TenantQueries, id: string): Promise<LoadedInput> {
  const { kind, name, blob_hash } = await tx.queryOne<{
    kind: string;
    name: string;
    blob_hash: string;
  }>('select kind, name, blob_hash from resources where id = $1', [id]);
  const text = await readBlob(tx, blob_hash);
  const order = `000/${kind}/${name}`;
  return { stage: '', document_key: kind, order, title: name, text, content: null };
}
