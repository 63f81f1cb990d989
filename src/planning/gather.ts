import { DialecticError } from '../errors/errors.ts';
import { driverOf } from '../recipe/driver.ts';
import { findStage, isProduced } from '../recipe/edges.ts';
import { joinOf } from '../recipe/joins.ts';
import type { Step, StepInput } from '../recipe/types.ts';
import { type DocumentIndex, lineageOf, selectForInput } from './document-index.ts';
import { wouldRead } from './missing.ts';
import { lanesNeeded } from './ready.ts';
import type { MissingInput, PlanRequest, SourceDocument } from './types.ts';

/** An input with all that it selects, split by branch where it joins by lineage. */
export type GatheredInput = {
  readonly input: StepInput;
  readonly documents: readonly SourceDocument[];
  /** Null: every job gets all of `documents`. */
  readonly byLineage: ReadonlyMap<string, readonly SourceDocument[]> | null;
};

/** A step with what exists for it. */
export type Gathered = {
  readonly request: PlanRequest;
  readonly step: Step;
  readonly inputs: readonly GatheredInput[];
  readonly driver: GatheredInput | undefined;
  readonly missing: MissingInput[];
};

/** Looks the step up, selects its inputs and applies its dependency policy to absent lanes. */
export function gatherInputs(request: PlanRequest, index: DocumentIndex): Gathered {
  const { process, stageKey, stepKey, lane, lanes, iteration } = request;
  const stage = findStage(process, stageKey);
  const step = stage?.steps.find((one) => one.key === stepKey && !one.skip);
  if (step === undefined) {
    throw new DialecticError('not_found', `The process has no step ${stageKey}/${stepKey}.`);
  }
  const ordinals = new Map(lanes.map((one) => [one.id, one.ordinal]));
  const inputs = step.inputs.map((input): GatheredInput => {
    const documents = selectForInput(index, input, lane, ordinals, iteration);
    return { input, documents, byLineage: splitByLineage(request, step, input, documents) };
  });
  const driverInput = driverOf(step);
  const driver = inputs.find(({ input }) => input === driverInput);
  const gathered: Gathered = { request, step, inputs, driver, missing: [] };
  for (const one of inputs) checkPresence(gathered, one);
  return gathered;
}

function splitByLineage(
  request: PlanRequest,
  step: Step,
  input: StepInput,
  documents: readonly SourceDocument[],
): GatheredInput['byLineage'] {
  const branched = isProduced(input) || (input.type === 'feedback' && input.documentKey !== null);
  if (!branched || joinOf(request.process, step, input) === 'all') return null;
  return groupBy(documents, lineageOf);
}

/** Groups in the order of first appearance; what has no key is left out. */
export function groupBy(
  documents: readonly SourceDocument[],
  keyOf: (document: SourceDocument) => string | null,
): Map<string, SourceDocument[]> {
  const groups = new Map<string, SourceDocument[]>();
  for (const document of documents) {
    const key = keyOf(document);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [document]);
    else group.push(document);
  }
  return groups;
}

/** Lanes that owe the input. */
export function lanesOwing(request: PlanRequest, input: StepInput): readonly string[] {
  if (input.scope === 'own') return [request.lane.id];
  return request.stageLanes?.[input.stage ?? ''] ?? request.lanes.map((lane) => lane.id);
}

function checkPresence(gathered: Gathered, { input, documents }: GatheredInput): void {
  if (!input.required) return;
  if (documents.length === 0) refuse(gathered, input, 'missing', null, null);
  if (!isProduced(input)) return;
  const present = new Set(documents.map((document) => document.laneId));
  const owing = lanesOwing(gathered.request, input);
  const absent = owing.filter((laneId) => !present.has(laneId));
  if (absent.length === 0) return;
  const excused = absent.filter((laneId) => isLost(gathered.request, input, laneId));
  const wanted = lanesNeeded(gathered.step, owing.length, excused.length);
  if (owing.length - absent.length < wanted) {
    refuse(gathered, input, 'missing', absent[0] ?? null, null);
  }
  for (const laneId of absent) {
    gathered.missing.push({ input: input.name, laneId, sourceGroup: null });
  }
}

/** Whether the run goes on without what the input reads from this lane. */
const isLost = (request: PlanRequest, input: StepInput, laneId: string): boolean => {
  const ordinal = request.lanes.find((lane) => lane.id === laneId)?.ordinal;
  return (request.losses ?? []).some(
    (loss) => wouldRead(request, input, loss) && loss.lane === ordinal,
  );
};

/**
 * Within a fan-out: notes that a job is left out. Under `all` that is refused, unless the run has
 * lost something already: a branch with a gap then gets no jobs in any later stage.
 */
export function noteAbsence(
  gathered: Gathered,
  input: StepInput,
  laneId: string | null,
  sourceGroup: string | null,
): void {
  const { request, step } = gathered;
  if (step.dependencyPolicy === 'all' && (request.losses ?? []).length === 0) {
    refuse(gathered, input, 'missing', laneId, sourceGroup);
  }
  gathered.missing.push({ input: input.name, laneId, sourceGroup });
}

/** Throws plan_inputs_missing; the details say which input of which step, and why. */
export function refuse(
  gathered: Gathered,
  input: StepInput,
  reason: 'missing' | 'ambiguous',
  laneId: string | null,
  sourceGroup: string | null,
): never {
  const { stageKey, stepKey } = gathered.request;
  const what = reason === 'missing' ? 'is not there' : 'is there more than once for one job';
  const ordinal = gathered.request.lanes.find((lane) => lane.id === laneId)?.ordinal;
  const from = laneId === null ? '' : ` from lane ${ordinal ?? laneId}`;
  const on = sourceGroup === null ? '' : ` for lineage ${sourceGroup}`;
  throw new DialecticError(
    'plan_inputs_missing',
    `Step ${stageKey}/${stepKey}: the input ${input.name}${from}${on} ${what}.`,
    { details: { stage: stageKey, step: stepKey, input: input.name, reason, laneId, sourceGroup } },
  );
}
