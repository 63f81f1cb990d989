import { activeSteps } from './edges.ts';
import type { Contract, Depth, DocumentRef, Process, Stage, Step } from './types.ts';

/** What a person decides about a run of a process without editing its recipe. */
export type RunSettings = {
  readonly depth: Depth;
  /** Whether the requester is asked first. */
  readonly ask: boolean;
  /** Whether the result for people is written at the end. */
  readonly result: boolean;
  /** Whether a lone participant copies where there is nothing to merge or to rank. */
  readonly shortcuts: boolean;
  readonly laneCount: number;
};

/**
 * The process as one run follows it: stages that it leaves out are skipped, contracts ask for the
 * words of its depth, and what a lone participant need not do is copied by code. A session pins
 * the outcome, so that a later change of the settings never changes a run under way.
 */
export function configureProcess(process: Process, settings: RunSettings): Process {
  const alone = settings.shortcuts && settings.laneCount === 1;
  const stages = process.stages.map((stage) => {
    const left =
      (stage.key === process.askStage && !settings.ask) ||
      (stage.key === process.resultStage && !settings.result);
    return configureStage(stage, settings, left, alone);
  });
  return withoutAbsent({ ...process, stages, depth: settings.depth });
}

function configureStage(
  stage: Stage,
  { depth, laneCount }: RunSettings,
  left: boolean,
  alone: boolean,
): Stage {
  const contracts = Object.entries(stage.contracts).map(([path, contract]): [string, Contract] => [
    path,
    atDepth(contract, depth),
  ]);
  return {
    ...stage,
    lanes: laneCount === 1 ? 'all' : stage.lanes,
    contracts: Object.fromEntries(contracts),
    steps: stage.steps.map((step) => {
      if (left) return { ...step, skip: true };
      return alone ? workAlone(step) : step;
    }),
  };
}

function workAlone(step: Step): Step {
  if (step.alone === 'skip') return { ...step, skip: true };
  return step.alone === 'copy' ? { ...step, prompt: null, compute: 'copy' } : step;
}

function atDepth(contract: Contract, depth: Depth): Contract {
  const words = contract['x-words'];
  return typeof words === 'object' ? { ...contract, 'x-words': words[depth] } : contract;
}

/** Takes out what process.yaml says of documents that no step of this run makes. */
function withoutAbsent(process: Process): Process {
  const isMade = ({ stage, documentKey }: DocumentRef): boolean =>
    process.stages.some(
      (one) =>
        one.key === stage &&
        activeSteps(one).some((step) => step.output.documentKey === documentKey),
    );
  const { convergence, firstPage } = process;
  return {
    ...process,
    results: process.results.filter(isMade),
    firstPage: firstPage && isMade(firstPage) ? firstPage : null,
    workItems: process.workItems.filter(isMade),
    convergence: convergence && isMade(convergence.ballots) ? convergence : null,
  };
}

/** The stages that a run goes through: those with a step that is not skipped. */
export const runningStages = (process: Process): readonly Stage[] =>
  process.stages.filter((stage) => activeSteps(stage).length > 0);
