import { findBallotStep } from '../recipe/ballot.ts';
import { activeSteps, deriveEdges, stageOf } from '../recipe/edges.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { compareText, type DocumentIndex, feedbackFor } from './document-index.ts';
import type { PlannedJob, PlanRequest, SourceDocument } from './types.ts';

/** Input of a job that no recipe names: no name in a recipe may begin with a plus sign. */
export const GIVEN_FEEDBACK = '+feedback';

/** What a piece of feedback is about. */
type FeedbackSubject = {
  readonly stage: string;
  /** Null: the stage as a whole. */
  readonly documentKey: string | null;
  /** The pass in which it was given. */
  readonly iteration: number;
};

/** The steps that ask a model; what code computes has no prompt that could hold feedback. */
const promptedSteps = (stage: Stage): readonly Step[] =>
  activeSteps(stage).filter((step) => step.prompt !== null);

/** The stages of a run that can be given feedback. */
export const promptedStages = (process: Process): readonly Stage[] =>
  process.stages.filter((stage) => promptedSteps(stage).length > 0);

/** Whether any step of a process reads what people say. */
export const readsFeedback = (process: Process): boolean =>
  process.stages.some((stage) => promptedSteps(stage).some(hasFeedbackInput));

/**
 * The steps of a stage that are given a piece of feedback: those whose inputs name it; else, in its
 * own stage, the step that writes the document; else those that read any feedback; else those that
 * the stage begins with.
 */
export function stepsGiven(stage: Stage, subject: FeedbackSubject, iteration: number): Step[] {
  const steps = promptedSteps(stage);
  const from = new Set(steps.map((step) => step.key));
  const edges = deriveEdges(stage).filter((edge) => from.has(edge.from));
  const choices = [
    steps.filter((step) => namesFeedback(step, subject, iteration)),
    steps.filter(
      ({ output }) => stage.key === subject.stage && output.documentKey === subject.documentKey,
    ),
    steps.filter(hasFeedbackInput),
    steps.filter((step) => !edges.some((edge) => edge.to === step.key)),
  ];
  return choices.find((choice) => choice.length > 0) ?? [];
}

const hasFeedbackInput = (step: Step): boolean =>
  step.inputs.some((input) => input.type === 'feedback');

const namesFeedback = (step: Step, subject: FeedbackSubject, iteration: number): boolean =>
  step.inputs.some(
    (input) =>
      input.type === 'feedback' &&
      input.stage === subject.stage &&
      input.documentKey === subject.documentKey &&
      subject.iteration === (input.iteration === 'previous' ? iteration - 1 : iteration),
  );

/**
 * Adds to the jobs of a step the feedback that this stage has to take up and that none of the
 * step's own inputs selects (it is about another stage, or about a lineage of an earlier pass).
 */
export function giveFeedback(
  request: PlanRequest,
  step: Step,
  jobs: readonly PlannedJob[],
  index: DocumentIndex,
): readonly PlannedJob[] {
  const stage = stageOf(request.process, request.stageKey);
  const selected = new Set(jobs.flatMap((job) => job.inputIds));
  // Voters are shown the same: feedback on one lane's document alone would tell that lane its own.
  const isBallot = findBallotStep(request.process) === step;
  const given = feedbackFor(index, request.stageKey, request.iteration)
    .filter((piece) => !selected.has(piece.id) && (isBallot || concernsLane(request, piece)))
    .filter((piece) => {
      const { documentKey, iteration } = piece;
      const subject = { stage: piece.stage!, documentKey, iteration };
      return stepsGiven(stage, subject, request.iteration).includes(step);
    })
    .toSorted((a, b) => compareText(a.identity, b.identity));
  if (given.length === 0) return jobs;
  const ids = given.map((piece) => piece.id);
  return jobs.map((job) => ({
    ...job,
    inputs: [...job.inputs, { name: GIVEN_FEEDBACK, ids }],
    inputIds: [...job.inputIds, ...ids].toSorted(compareText),
  }));
}

/** Feedback on one lane's document goes to that lane, unless it takes no part in this stage. */
function concernsLane({ lane, lanes, stageLanes, stageKey }: PlanRequest, piece: SourceDocument) {
  const { laneId } = piece;
  if (laneId === null || laneId === lane.id) return true;
  const taking = stageLanes?.[stageKey] ?? lanes.map((one) => one.id);
  return !taking.includes(laneId);
}
