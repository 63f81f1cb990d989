import { DialecticError } from '../errors/errors.ts';
import type { Process, Stage, Step, Transition } from './types.ts';
import { hashStage, hashStep } from './version.ts';

/** Where to put something: first, last, or beside what has the named key. */
export type Position = 'first' | 'last' | { readonly before: string } | { readonly after: string };

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

/** Changes fields of a step, whose key stays; the stage is forked first if need be. */
export function overrideStep(
  process: Process,
  stageKey: string,
  stepKey: string,
  change: Partial<Omit<Step, 'key' | 'origin'>>,
): Process {
  const forked = forkStage(process, stageKey);
  const stage = requireStage(forked, stageKey);
  if (!stage.steps.some(({ key }) => key === stepKey)) {
    throw conflict(`Stage ${stageKey} has no step ${stepKey}.`);
  }
  const steps = stage.steps.map((step) => (step.key === stepKey ? { ...step, ...change } : step));
  return withStage(forked, stageKey, { ...stage, steps });
}

/** Inserts a stage; the transition that it interrupts keeps its gate in front of it. */
export function insertStage(process: Process, stage: Stage, position: Position): Process {
  if (process.stages.some((one) => one.key === stage.key)) {
    throw conflict(`The process has a stage ${stage.key} already.`);
  }
  return withStages(process, place(process.stages, stage, position));
}

function withStages(process: Process, stages: readonly Stage[]): Process {
  const gates = new Set(process.transitions.filter((one) => one.gate).map((one) => one.from));
  const transitions = stages.slice(1).map((to, at): Transition => {
    const from = stages[at]?.key ?? '';
    return { from, to: to.key, gate: gates.has(from) };
  });
  return { ...process, stages, transitions };
}

const withStage = (process: Process, stageKey: string, stage: Stage): Process => ({
  ...process,
  stages: process.stages.map((one) => (one.key === stageKey ? stage : one)),
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

const conflict = (message: string): DialecticError =>
  new DialecticError('recipe_conflict', message);
