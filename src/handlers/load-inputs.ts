import type { Transaction } from '../db/database.ts';
import { readBlob } from '../documents/blobs.ts';
import { isShownRendered, showSections } from '../generation/document-text.ts';
import { stripFields } from '../generation/fill-fields.ts';
import type { JobInput } from '../generation/job-input.ts';
import { optionLabel, rivalsByLabel } from '../planning/deal-labels.ts';
import type { PlannedInput, PlannedJob } from '../planning/types.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import { contractOf, describeDocument } from '../recipe/contract.ts';
import { isShown } from '../recipe/edges.ts';
import type { Process, Stage, Step, StepInput } from '../recipe/types.ts';
import type { SessionView } from '../session/read.ts';
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
  markdown_hash: string | null;
  body_hash: string | null;
};

/** Loads a job's inputs by the ids that were fixed when it was planned. */
export async function loadInputs(
  tx: Transaction,
  session: SessionView,
  planned: PlannedJob,
): Promise<JobInput[]> {
  const { process } = session;
  const stage = process.stages.find((one) => one.key === planned.stage)!;
  const step = stage.steps.find((one) => one.key === planned.step)!;
  const rivals = rivalsInput(process, step);
  const letters = await readLetters(tx, step, planned);
  const loaded: (JobInput & Lineage)[] = [];
  for (const { name, ids } of planned.inputs) {
    const input = step.inputs.find((one) => one.name === name);
    if (input && !isShown(input)) continue;
    // Only the planner adds an input that the recipe does not name, and it is feedback.
    const type = input?.type ?? 'feedback';
    const readers = input ? countReaders(stage, input) : 0;
    for (const [index, id] of ids.entries()) {
      const letter = ids.length > 1 ? optionLabel(index) : letters.get(id);
      const mark = letter ? ` ${letter}` : '';
      const one = await loadOne(tx, session, planned.laneId, id, type);
      // Rivals stand in the order of their labels, not of their lanes.
      const place = `${one.order.split('/')[0]}/${String(index).padStart(6, '0')}`;
      const order = rivals && input === rivals ? place : one.order;
      loaded.push({ ...one, name, type, readers, order, letter, label: `${one.title}${mark}` });
    }
  }
  return loaded.map((one) => nameSubject(one, loaded));
}

/** The lineage of a document: a proposal and what is written on it share it. */
type Lineage = {
  readonly sourceGroup?: string | null;
  readonly letter?: string | undefined;
};

/** A review of one among several proposals says in its label which one it is on. */
function nameSubject(
  { sourceGroup, letter, ...input }: JobInput & Lineage,
  all: readonly (JobInput & Lineage)[],
): JobInput {
  const isBefore = (one: JobInput): boolean =>
    one.order.split('/')[0]! < input.order.split('/')[0]!;
  const subject =
    letter && sourceGroup
      ? all.find((one) => one.letter && one.sourceGroup === sourceGroup && isBefore(one))
      : undefined;
  if (!subject) return input;
  return { ...input, label: `${input.label}, on proposal ${subject.letter}` };
}

/**
 * Letters by document, as the plan of the stage called them. Its guidance speaks of A and B; who
 * merges one pair must know which of them it holds.
 */
async function readLetters(
  tx: Transaction,
  step: Step,
  planned: PlannedJob,
): Promise<ReadonlyMap<string, string>> {
  const headers = step.inputs.filter(({ type }) => type === 'header_context');
  const ids = planned.inputs
    .filter(({ name }) => headers.some((input) => input.name === name))
    .flatMap((input) => input.ids);
  const rows = await tx.query<{ inputs: PlannedInput[] }>(
    'select inputs from documents where id = any ($1)',
    [ids],
  );
  const several = rows.flatMap(({ inputs }) => inputs).filter((input) => input.ids.length > 1);
  return new Map(
    several.flatMap((input) => input.ids.map((id, index) => [id, optionLabel(index)] as const)),
  );
}

/** How many steps of a stage are given what an input names. */
const countReaders = (stage: Stage, input: StepInput): number =>
  stage.steps.filter(
    (step) =>
      !step.skip &&
      step.inputs.some(
        (one) =>
          isShown(one) &&
          one.stage === input.stage &&
          one.documentKey === input.documentKey &&
          one.iteration === input.iteration &&
          (one.type === 'feedback') === (input.type === 'feedback'),
      ),
  ).length;

type Loaded = Omit<JobInput, 'name' | 'type' | 'label' | 'readers'> & Lineage;

async function loadOne(
  tx: Transaction,
  session: SessionView,
  laneId: string,
  id: string,
  type: JobInput['type'],
): Promise<Loaded> {
  const { process } = session;
  if (type === 'feedback') return loadFeedback(tx, process, id);
  if (type === 'project_resource') return loadResource(tx, id);
  const [row] = await tx.query<Row>(
    `select id, kind, stage_key, step_key, document_key, identity, lane_id, inputs,
       source_group, content, markdown_hash, body_hash
     from documents where id = $1`,
    [id],
  );
  const at = process.stages.findIndex((one) => one.key === row!.stage_key);
  const order = `${String(at).padStart(3, '0')}/${row!.identity}`;
  const base = { stage: row!.stage_key, document_key: row!.document_key ?? '', order };
  if (row!.kind === 'seed_prompt') {
    const text = await readBlob(tx, row!.markdown_hash!);
    return { ...base, title: 'The request', text, content: null };
  }
  const stage = process.stages[at]!;
  const step = stage.steps.find((one) => one.key === row!.step_key)!;
  const contract = contractOf(stage, step)!;
  const content = stripFields(contract, row!.content);
  const body = isShownRendered(step, type)
    ? await readBody(tx, process, stage, step, row!)
    : showSections(type, content as Record<string, unknown>);
  const rivals = rivalsInput(process, step) ? rivalsByLabel(process, row!.inputs) : [];
  const ownLabel = await findOwnLabel(tx, laneId, rivals);
  // Labels are dealt anew for each ballot, so that a reader must be told whom they mean.
  const text = ownLabel ? `(In this document ${ownLabel} is your plan.)\n\n${body}` : body;
  const writer = session.lanes.find(({ id: lane }) => lane === row!.lane_id)?.model ?? '';
  const { title } = describeDocument(stage, step);
  const sourceGroup = row!.source_group;
  const made = { ...base, sourceGroup, title, text, content, contract, writer };
  return { ...made, ...(ownLabel && { ownLabel }) };
}

async function findOwnLabel(
  tx: Transaction,
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

async function loadFeedback(tx: Transaction, process: Process, id: string): Promise<Loaded> {
  const [row] = await tx.query<FeedbackRow>(
    `select f.stage_key, d.document_key, f.question, f.body from feedback f
     left join documents d on d.tenant_id = f.tenant_id and d.id = f.document_id
     where f.id = $1`,
    [id],
  );
  const { stage_key, document_key, question, body } = row!;
  const stage = process.stages.find((one) => one.key === stage_key)!;
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

async function loadResource(tx: Transaction, id: string): Promise<Loaded> {
  const [row] = await tx.query<{ kind: string; name: string; blob_hash: string }>(
    'select kind, name, blob_hash from resources where id = $1',
    [id],
  );
  const text = await readBlob(tx, row!.blob_hash);
  const order = `000/${row!.kind}/${row!.name}`;
  return { stage: '', document_key: row!.kind, order, title: row!.name, text, content: null };
}
