import { DialecticError } from '../errors/errors.ts';
import type { Contract, Process, Stage, Step, Transition } from './types.ts';
import { hashStage, hashStep } from './version.ts';

/** Where to put something: first, last, or beside what has the named key. */
export type Position = 'first' | 'last' | { readonly before: string } | { readonly after: string };

/** Texts that a new or changed step needs, by path in the stage folder. */
export type StageTexts = {
  readonly files?: Readonly<Record<string, string>>;
  readonly contracts?: Readonly<Record<string, Contract>>;
};

/**
 * Copies one stage so that it can be changed; every other stage stays the same object. Steps keep
 * the content hash they were copied with. A stage that is a fork already is left alone.
 */
export function forkStage(process: Process, stageKey: string): Process {
  const stage = requireStage(process, stageKey);
  if (stage.origin !== null) return process;
  const fork: Stage = {
    ...stage,
    origin: { process: process.key, stage: stage.key, version: hashStage(stage) },
    steps: stage.steps.map((step) => ({
      ...step,
      origin: { stage: stage.key, step: step.key, hash: hashStep(stage, step) },
    })),
  };
  return withStage(process, stageKey, fork);
}

/** Adds a step; the stage is forked first if need be, as with every edit below. */
export function addStep(
  process: Process,
  stageKey: string,
  step: Step,
  position: Position = 'last',
  texts: StageTexts = {},
): Process {
  return editStage(process, stageKey, (stage) => {
    if (stage.steps.some((one) => one.key === step.key)) {
      throw conflict(`Stage ${stageKey} has a step ${step.key} already.`);
    }
    return { ...withTexts(stage, texts), steps: place(stage.steps, step, position) };
  });
}

/** Changes fields of a step; its key stays. */
export function overrideStep(
  process: Process,
  stageKey: string,
  stepKey: string,
  change: Partial<Omit<Step, 'key' | 'origin'>>,
  texts: StageTexts = {},
): Process {
  return editStep(process, stageKey, stepKey, (step) => ({ ...step, ...change }), texts);
}

/** Puts another step in a step's place; the new one has no origin unless it brings one. */
export function replaceStep(
  process: Process,
  stageKey: string,
  stepKey: string,
  step: Step,
  texts: StageTexts = {},
): Process {
  const taken = requireStage(process, stageKey).steps.some((one) => one.key === step.key);
  if (taken && step.key !== stepKey) {
    throw conflict(`Stage ${stageKey} has a step ${step.key} already.`);
  }
  return editStep(process, stageKey, stepKey, () => step, texts);
}

/** Leaves a step out of every run, or takes it in again. */
export function skipStep(
  process: Process,
  stageKey: string,
  stepKey: string,
  skip = true,
): Process {
  return editStep(process, stageKey, stepKey, (step) => ({ ...step, skip }));
}

/** Takes a step out of the recipe. */
export function removeStep(process: Process, stageKey: string, stepKey: string): Process {
  requireStep(requireStage(process, stageKey), stepKey);
  return editStage(process, stageKey, (stage) => ({
    ...stage,
    steps: stage.steps.filter((step) => step.key !== stepKey),
  }));
}

/** Moves a step; edges still decide when it runs. */
export function moveStep(
  process: Process,
  stageKey: string,
  stepKey: string,
  position: Position,
): Process {
  const step = requireStep(requireStage(process, stageKey), stepKey);
  return editStage(process, stageKey, (stage) => {
    const moved = stage.steps.find((one) => one.key === step.key) ?? step;
    const others = stage.steps.filter((one) => one.key !== stepKey);
    return { ...stage, steps: place(others, moved, position) };
  });
}

/** Changes prompts, templates or contracts of a stage. */
export function changeTexts(process: Process, stageKey: string, texts: StageTexts): Process {
  return editStage(process, stageKey, (stage) => withTexts(stage, texts));
}

/** Inserts a stage; the transition that it interrupts keeps its gate in front of it. */
export function insertStage(process: Process, stage: Stage, position: Position): Process {
  if (process.stages.some((one) => one.key === stage.key)) {
    throw conflict(`The process has a stage ${stage.key} already.`);
  }
  return withStages(process, place(process.stages, stage, position));
}

/** Takes a stage out of the process. */
export function removeStage(process: Process, stageKey: string): Process {
  requireStage(process, stageKey);
  return withStages(
    process,
    process.stages.filter((stage) => stage.key !== stageKey),
  );
}

/** Moves a stage. */
export function moveStage(process: Process, stageKey: string, position: Position): Process {
  const stage = requireStage(process, stageKey);
  const others = process.stages.filter((one) => one !== stage);
  return withStages(process, place(others, stage, position));
}

/** Sets or clears the gate after a stage. */
export function setGate(process: Process, from: string, gate: boolean): Process {
  if (!process.transitions.some((one) => one.from === from)) {
    throw conflict(`No stage follows ${from}.`);
  }
  const transitions = process.transitions.map((one) =>
    one.from === from ? { ...one, gate } : one,
  );
  return { ...process, transitions };
}

function withStages(process: Process, stages: readonly Stage[]): Process {
  const gates = new Set(process.transitions.filter((one) => one.gate).map((one) => one.from));
  const transitions = stages.slice(1).map((to, at): Transition => {
    const from = stages[at]?.key ?? '';
    return { from, to: to.key, gate: gates.has(from) };
  });
  return { ...process, stages, transitions };
}

function editStage(process: Process, stageKey: string, change: (stage: Stage) => Stage): Process {
  const forked = forkStage(process, stageKey);
  return withStage(forked, stageKey, change(requireStage(forked, stageKey)));
}

function editStep(
  process: Process,
  stageKey: string,
  stepKey: string,
  change: (step: Step) => Step,
  texts: StageTexts = {},
): Process {
  requireStep(requireStage(process, stageKey), stepKey);
  return editStage(process, stageKey, (stage) => ({
    ...withTexts(stage, texts),
    steps: stage.steps.map((step) => (step.key === stepKey ? change(step) : step)),
  }));
}

const withStage = (process: Process, stageKey: string, stage: Stage): Process => ({
  ...process,
  stages: process.stages.map((one) => (one.key === stageKey ? stage : one)),
});

const withTexts = (stage: Stage, texts: StageTexts): Stage => ({
  ...stage,
  files: { ...stage.files, ...texts.files },
  contracts: { ...stage.contracts, ...texts.contracts },
});

function place<Item extends { readonly key: string }>(
  items: readonly Item[],
  item: Item,
  position: Position,
): Item[] {
  if (position === 'first') return [item, ...items];
  if (position === 'last') return [...items, item];
  const key = 'before' in position ? position.before : position.after;
  const at = items.findIndex((one) => one.key === key);
  if (at < 0) throw conflict(`There is no ${key} to put ${item.key} beside.`);
  return items.toSpliced('before' in position ? at : at + 1, 0, item);
}

function requireStage(process: Process, stageKey: string): Stage {
  const stage = process.stages.find((one) => one.key === stageKey);
  if (stage === undefined) throw conflict(`The process has no stage ${stageKey}.`);
  return stage;
}

function requireStep(stage: Stage, stepKey: string): Step {
  const step = stage.steps.find((one) => one.key === stepKey);
  if (step === undefined) throw conflict(`Stage ${stage.key} has no step ${stepKey}.`);
  return step;
}

const conflict = (message: string): DialecticError =>
  new DialecticError('recipe_conflict', message);
