import type { Database } from '../db/database.ts';
import type { TenantQueries } from '../db/transaction.ts';
import { readBlob } from '../documents/blobs.ts';
import { DialecticError } from '../errors/errors.ts';
import { isShownRendered, showSections } from '../generation/document-text.ts';
import { stripFields } from '../generation/fill-fields.ts';
import type { JobInput } from '../generation/job-input.ts';
import { optionLabel, rivalsByLabel } from '../planning/deal-labels.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import { describeDocument, requireContract } from '../recipe/contract.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import type { ContractNode, InputType, Process } from '../recipe/types.ts';
import type { SessionView } from '../session/read.ts';
import { requireRecord } from '../text/is-record.ts';
import { onceFor, onceForPair } from '../text/memo.ts';
import type { InputDocuments } from './input-documents.ts';
import { readBody } from './read-body.ts';

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
  const content = shownContent(contract, requireRecord(row.content));
  const body = isShownRendered(step, type)
    ? (row.body ??
      (await database.asTenant(reads.tenantId, (tx) => readBody(tx, process, stage, step, row))))
    : sectionsAs(type)(content);
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

/** What readers may see of a content; what was shown of one that is kept is not made again. */
const shownContent = onceForPair((contract: ContractNode, content: Record<string, unknown>) =>
  requireRecord(stripFields(contract, content)),
);

type Shown = (content: Record<string, unknown>) => string;
const sectionsByType = new Map<InputType, Shown>();

function sectionsAs(type: InputType): Shown {
  const known = sectionsByType.get(type) ?? onceFor((content) => showSections(type, content));
  sectionsByType.set(type, known);
  return known;
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
