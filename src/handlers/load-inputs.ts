import type { Database } from '../db/database.ts';
import type { TenantQueries } from '../db/transaction.ts';
import type { JobInput } from '../generation/job-input.ts';
import { optionLabel } from '../planning/deal-labels.ts';
import type { PlannedInput, PlannedJob } from '../planning/types.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import { isShown, stageOf, stepOf } from '../recipe/edges.ts';
import { readingOrder, sourceOf } from '../recipe/reading-order.ts';
import type { Step } from '../recipe/types.ts';
import type { SessionView } from '../session/read.ts';
import type { InputDocuments } from './input-documents.ts';
import { type Lineage, loadInput } from './load-input.ts';

/** Loads a job's inputs by the ids that were fixed when it was planned. */
export async function loadInputs(
  database: Database,
  reads: TenantQueries,
  session: SessionView,
  planned: PlannedJob,
  documents: InputDocuments,
): Promise<JobInput[]> {
  const { process } = session;
  const stage = stageOf(process, planned.stage);
  const step = stepOf(stage, planned.step);
  const rivals = rivalsInput(process, step);
  const letters = findLetters(documents, step, planned);
  const reading = readingOrder(process, stage.key, step.key);
  const loading = planned.inputs.flatMap(({ name, ids }) => {
    const input = step.inputs.find((one) => one.name === name);
    if (input && !isShown(input)) return [];
    // Only the planner adds an input that the recipe does not name, and it is feedback.
    const type = input?.type ?? 'feedback';
    const at = input ? reading.indexOf(sourceOf(input)) : -1;
    const place = at < 0 ? reading.length : at;
    return ids.map(async (id, index): Promise<JobInput & Lineage> => {
      const letter = ids.length > 1 ? optionLabel(index) : letters.get(id);
      const mark = letter ? ` ${letter}` : '';
      const one = await loadInput(database, reads, session, planned.laneId, id, type, documents);
      // Rivals stand in the order of their labels, not of their lanes.
      const dealt = `${stageNumber(one)}/${String(index).padStart(6, '0')}`;
      const order = rivals && input === rivals ? dealt : one.order;
      return { ...one, name, type, place, order, letter, label: `${one.title}${mark}` };
    });
  });
  // At once: what some of them still have to ask for takes one round trip.
  const loaded = await Promise.all(loading);
  return loaded.map((one) => nameSubject(one, loaded));
}

/** The first part of an input's order: the number of its stage in the process. */
const stageNumber = ({ order }: Pick<JobInput, 'order'>): string =>
  order.slice(0, order.indexOf('/'));

/** A review of one among several proposals says in its label which one it is on. */
function nameSubject(
  { sourceGroup, letter, ...input }: JobInput & Lineage,
  all: readonly (JobInput & Lineage)[],
): JobInput {
  const isBefore = (one: JobInput): boolean => stageNumber(one) < stageNumber(input);
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
function findLetters(
  documents: InputDocuments,
  step: Step,
  planned: PlannedJob,
): ReadonlyMap<string, string> {
  const headers = step.inputs.filter(({ type }) => type === 'header_context');
  const ids = planned.inputs
    .filter(({ name }) => headers.some((input) => input.name === name))
    .flatMap((input) => input.ids);
  const several = ids
    .flatMap((id): readonly PlannedInput[] => documents.get(id)?.inputs ?? [])
    .filter((input) => input.ids.length > 1);
  return new Map(
    several.flatMap((input) => input.ids.map((id, index) => [id, optionLabel(index)] as const)),
  );
}
