import { findProducer, findStage, isProduced } from '../recipe/edges.ts';
import type { StepInput } from '../recipe/types.ts';
import type { JobInputs } from './anchor.ts';
import { compareText } from './document-index.ts';
import type { Gathered } from './gather.ts';
import type { Loss, MissingInput, PlanRequest } from './types.ts';

/** Whether an input would have selected the lost document for this lane. */
export function wouldRead(request: PlanRequest, input: StepInput, loss: Loss): boolean {
  return (
    isProduced(input) &&
    input.iteration === 'current' &&
    loss.iteration === request.iteration &&
    loss.stage === input.stage &&
    loss.document === input.documentKey &&
    (input.scope === 'all' || loss.lane === request.lane.ordinal)
  );
}

/** What every job of a step is planned without: lost documents, and absences it was let pass. */
export function missingOfStep({ request, step, missing }: Gathered): Loss[] {
  const lost = (request.losses ?? []).filter(
    (loss) =>
      step.inputs.some((input) => wouldRead(request, input, loss)) ||
      missing.some(({ sourceGroup }) => sourceGroup !== null && sourceGroup === loss.lineage),
  );
  const unexplained = missing
    .map((absence) => toLoss(request, step.inputs, absence))
    .filter((absence) => !lost.some((loss) => explains(loss, absence)));
  return [...lost, ...unexplained];
}

function toLoss(request: PlanRequest, inputs: readonly StepInput[], absence: MissingInput): Loss {
  const input = inputs.find(({ name }) => name === absence.input)!;
  const stage = findStage(request.process, input.stage);
  return {
    iteration: request.iteration,
    stage: input.stage ?? '',
    step: (stage && findProducer(stage, input)?.key) ?? '',
    document: input.documentKey ?? '',
    lane: request.lanes.find((lane) => lane.id === absence.laneId)?.ordinal ?? null,
    lineage: absence.sourceGroup,
    error: null,
  };
}

/** Whether a loss is why something is absent: it is that document, or one of the same branch. */
function explains(loss: Loss, absence: Loss): boolean {
  if (absence.lineage !== null && loss.lineage === absence.lineage) return true;
  return (
    loss.stage === absence.stage &&
    loss.document === absence.document &&
    (absence.lane === null || loss.lane === absence.lane) &&
    (absence.lineage === null || loss.lineage === null)
  );
}

/** The step's own gaps and those that the job's inputs were written with, each once. */
export function missingOfJob(request: PlanRequest, own: readonly Loss[], inputs: JobInputs) {
  const inherited = inputs
    .flat()
    .flatMap((document) => document.missing ?? [])
    .filter((loss) => loss.iteration === request.iteration);
  return uniteLosses([...own, ...inherited]);
}

/** Each loss once, in an order that does not depend on when it was noticed. */
export function uniteLosses(losses: readonly Loss[]): Loss[] {
  if (losses.length === 0) return [];
  const known = new Map(losses.map((loss) => [nameLoss(loss), loss]));
  return [...known].toSorted(([a], [b]) => compareText(a, b)).map(([, loss]) => loss);
}

const nameLoss = ({ iteration, stage, step, lane, document, lineage }: Loss): string =>
  [iteration, stage, step, lane ?? '', document, lineage ?? ''].join('\n');
