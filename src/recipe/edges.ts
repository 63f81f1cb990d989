import { DialecticError } from '../errors/errors.ts';
import type { Process, Stage, Step, StepInput } from './types.ts';

/** `from` must have ended before `to` starts; `required` means it must have succeeded. */
export type Edge = {
  readonly from: string;
  readonly to: string;
  readonly required: boolean;
  /** The edge waits for the producer in every lane. */
  readonly allLanes: boolean;
};

const PRODUCED: readonly StepInput['type'][] = ['document', 'contribution', 'header_context'];

/** Whether a step of some stage makes this input, in contrast to people or the project. */
export const isProduced = (input: StepInput): boolean => PRODUCED.includes(input.type);

/** Whether the text of an input reaches the prompt. */
export const isShown = (input: StepInput): boolean => input.shown !== false;

/** The steps that run. */
export const activeSteps = (stage: Stage): readonly Step[] =>
  stage.steps.filter((step) => !step.skip);

/** The step of the stage that makes what the input reads. */
export function findProducer(stage: Stage, input: StepInput): Step | undefined {
  if (!isProduced(input)) return undefined;
  const kind = input.type === 'header_context' ? 'header_context' : 'document';
  return activeSteps(stage).find(
    (step) => step.output.kind === kind && step.output.documentKey === input.documentKey,
  );
}

export const findStage = (process: Process, key: string | null): Stage | undefined =>
  process.stages.find((stage) => stage.key === key);

/** A stage that the process has; throws `not_found` where it does not. */
export function stageOf(process: Process, key: string): Stage {
  const stage = findStage(process, key);
  if (!stage) throw new DialecticError('not_found', `${process.key} has no stage ${key}.`);
  return stage;
}

/** The stage that a run begins with. */
export function firstStage(process: Process): Stage {
  const [stage] = process.stages;
  if (!stage) throw new DialecticError('not_found', `${process.key} has no stages.`);
  return stage;
}

/** A step that the stage has; throws `not_found` where it does not. */
export function stepOf(stage: Stage, key: string | null): Step {
  const step = stage.steps.find((one) => one.key === key);
  if (!step) throw new DialecticError('not_found', `Stage ${stage.key} has no step ${key}.`);
  return step;
}

/** Edges within a stage: one for each input that the stage itself makes, and those of `after`. */
export function deriveEdges(stage: Stage): Edge[] {
  const edges = new Map<string, Edge>();
  const add = (from: string, to: string, required: boolean, allLanes: boolean): void => {
    const known = edges.get(`${from}\n${to}`);
    edges.set(`${from}\n${to}`, {
      from,
      to,
      required: required || (known?.required ?? false),
      allLanes: allLanes || (known?.allLanes ?? false),
    });
  };
  const active = new Set(activeSteps(stage).map((step) => step.key));
  for (const step of activeSteps(stage)) {
    for (const input of step.inputs) {
      if (input.stage !== stage.key || input.iteration === 'previous') continue;
      const producer = findProducer(stage, input);
      if (producer !== undefined) {
        add(producer.key, step.key, input.required, input.scope === 'all');
      }
    }
    for (const from of step.after) if (active.has(from)) add(from, step.key, true, false);
  }
  return [...edges.values()];
}

/** Steps by topological wave, in the order of the file; a cycle leaves its steps out. */
export function orderInWaves(stage: Stage): string[][] {
  const edges = deriveEdges(stage);
  const done = new Set<string>();
  const waves: string[][] = [];
  let rest = activeSteps(stage).map((step) => step.key);
  while (rest.length > 0) {
    const wave = rest.filter((key) =>
      edges.every((edge) => edge.to !== key || done.has(edge.from)),
    );
    if (wave.length === 0) break;
    for (const key of wave) done.add(key);
    waves.push(wave);
    rest = rest.filter((key) => !done.has(key));
  }
  return waves;
}

/** The steps of one cycle in order, or null where there is none. */
export function findCycle(stage: Stage): string[] | null {
  const edges = deriveEdges(stage);
  const inWaves = new Set(orderInWaves(stage).flat());
  const stuck = activeSteps(stage)
    .map((step) => step.key)
    .filter((key) => !inWaves.has(key));
  let current = stuck[0];
  if (current === undefined) return null;
  const seen: string[] = [];
  while (current !== undefined && !seen.includes(current)) {
    seen.push(current);
    const at: string = current;
    current = edges.find((edge) => edge.to === at && stuck.includes(edge.from))?.from;
  }
  return seen.slice(seen.indexOf(current ?? '')).toReversed();
}
