import { activeSteps, findStage, isProduced, isShown } from './edges.ts';
import { joinOf } from './joins.ts';
import type { Process, Step, StepInput } from './types.ts';

/** The step that writes the ballots of a process. */
export function findBallotStep(process: Process): Step | undefined {
  const { stage: key, documentKey } = process.convergence?.ballots ?? {};
  const stage = key === undefined ? undefined : findStage(process, key);
  return stage && activeSteps(stage).find((step) => step.output.documentKey === documentKey);
}

/** The input of a ballot step that shows the rival documents of all lanes; none for other steps. */
export function rivalsInput(process: Process, step: Step): StepInput | undefined {
  if (process.convergence === null || findBallotStep(process) !== step) return undefined;
  const { stage, documentKey } = process.convergence.candidates;
  return step.inputs.find(
    (input) =>
      isProduced(input) &&
      isShown(input) &&
      input.multiple &&
      input.stage === stage &&
      input.documentKey === documentKey &&
      input.iteration === 'current' &&
      !showsOneLane(process, step, input),
  );
}

/** Whether an input puts before a job what only its own lane or its own branch has. */
export function showsOneLane(process: Process, step: Step, input: StepInput): boolean {
  const ofALane = isProduced(input) || (input.type === 'feedback' && input.documentKey !== null);
  if (!ofALane || !isShown(input)) return false;
  if (input.scope === 'own') return true;
  const merges = step.granularity === 'all_to_one' || step.granularity === 'per_model';
  return !merges && joinOf(process, step, input) === 'lineage';
}
