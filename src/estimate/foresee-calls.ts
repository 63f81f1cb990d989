import { simulateProcess } from '../planning/simulate.ts';
import type { PlannedJob } from '../planning/types.ts';
import { validateForRun } from '../planning/validate-for-run.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import { requireUntil } from '../recipe/given.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { requireValid } from '../recipe/validate.ts';

/** What is to be run, as far as the number of calls goes. */
type RunShape = {
  readonly process: Process;
  /** One participant for each; the same model may stand here more than once. */
  readonly models: readonly string[];
  readonly untilStage?: string | null;
  /** The participant (from 1) that alone goes on where the process allows it. */
  readonly writer?: number | null;
};

/** One document that the planners will ask a model, or code, for. */
export type ForeseenCall = {
  readonly job: PlannedJob;
  readonly stage: Stage;
  readonly step: Step;
  readonly model: string;
};

/** Every call to a model in a run, in the order of the debate. */
export const foreseeCalls = (shape: RunShape): ForeseenCall[] =>
  foreseeDocuments(shape).filter(({ step }) => step.compute === null);

/** Every document of a run, those that code makes among them, by the planners themselves. */
export function foreseeDocuments(shape: RunShape): ForeseenCall[] {
  const { models, writer } = shape;
  const process = cutAfter(shape.process, shape.untilStage ?? null);
  // A simulated stage keeps the first lanes, so that the one that stays has to be the first.
  const chosen = writer ? models[writer - 1] : undefined;
  const lanes = chosen === undefined ? models : [chosen, ...models.toSpliced(writer! - 1, 1)];
  const lanesOfStage = chosen === undefined ? {} : loneStages(process);
  return simulate(process, lanes.length, lanesOfStage).map((job) => {
    const stage = stageOf(process, job.stage);
    const step = stepOf(stage, job.step);
    return { job, stage, step, model: lanes[Number(job.laneId.replace('lane-', '')) - 1]! };
  });
}

/** A process that cannot run is explained by the place in its recipe. */
function simulate(process: Process, lanes: number, lanesOfStage: Readonly<Record<string, number>>) {
  try {
    return simulateProcess(process, lanes, { lanesOfStage });
  } catch (error) {
    requireValid(validateForRun(process, lanes, { lanesOfStage }));
    throw error;
  }
}

function cutAfter(process: Process, untilStage: string | null): Process {
  if (untilStage === null) return process;
  requireUntil(process, untilStage);
  const at = process.stages.findIndex((stage) => stage.key === untilStage);
  return { ...process, stages: process.stages.slice(0, at + 1) };
}

function loneStages({ stages, writerAfter }: Process): Record<string, number> {
  const from = stages.findIndex((stage) => stage.key === writerAfter);
  return from < 0 ? {} : Object.fromEntries(stages.slice(from + 1).map(({ key }) => [key, 1]));
}
