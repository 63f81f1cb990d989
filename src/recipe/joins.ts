import { competesForAnchor } from './anchor-rule.ts';
import { driverOf } from './driver.ts';
import { findProducer, findStage, isProduced } from './edges.ts';
import type { Process, Stage, Step, StepInput } from './types.ts';

/** How an input's documents are distributed over the jobs of a fan-out. */
export function joinOf(process: Process, step: Step, input: StepInput): 'lineage' | 'all' {
  if (input.join !== null) return input.join;
  if (input.scope === 'all') return 'lineage';
  if (step.granularity === 'per_source_document_by_lineage' && formsGroups(step, input)) {
    return 'lineage';
  }
  return madeOncePerLane(process, input, new Set()) ? 'all' : 'lineage';
}

/** Documents are what is grouped; headers only where there is nothing else to group. */
function formsGroups(step: Step, input: StepInput): boolean {
  if (input.type !== 'header_context') return true;
  return !step.inputs.some((one) => competesForAnchor(one) && one.join !== 'all');
}

/** Whether each lane makes exactly one: a merge, or driven by the output of one in its own lane. */
function madeOncePerLane(process: Process, input: StepInput, seen: Set<Step>): boolean {
  const stage = findStage(process, input.stage);
  const source = input.type === 'feedback' ? { ...input, type: 'document' as const } : input;
  const producer = stage === undefined ? undefined : findProducer(stage, source);
  if (producer === undefined || seen.has(producer)) return false;
  if (producer.granularity === 'all_to_one' || producer.granularity === 'per_model') return true;
  if (producer.granularity !== 'per_source_document') return false;
  const driver = driverOf(producer);
  if (driver === undefined || driver.scope === 'all') return false;
  return madeOncePerLane(process, driver, new Set([...seen, producer]));
}

/** The inputs of a pairwise step that hold answers to its origin. */
export function respondingInputs(process: Process, step: Step): StepInput[] {
  const driver = driverOf(step);
  const origin = driver === undefined ? undefined : producerOf(process, driver);
  if (driver === undefined || origin === undefined) return [];
  return step.inputs.filter((input) => {
    if (input === driver || input.scope !== 'all' || input.type === 'header_context') return false;
    const producer = producerOf(process, input);
    return producer !== undefined && readsFrom(process, producer, origin, new Set());
  });
}

type Producer = { readonly stage: Stage; readonly step: Step };

function producerOf(process: Process, input: StepInput): Producer | undefined {
  const stage = findStage(process, input.stage);
  const source = input.type === 'feedback' ? { ...input, type: 'document' as const } : input;
  const step = stage === undefined ? undefined : findProducer(stage, source);
  return stage === undefined || step === undefined ? undefined : { stage, step };
}

function readsFrom(process: Process, from: Producer, origin: Producer, seen: Set<Step>): boolean {
  if (seen.has(from.step)) return false;
  seen.add(from.step);
  return from.step.inputs.some((input) => {
    if (!isProduced(input) || input.iteration === 'previous') return false;
    const producer = producerOf(process, input);
    if (producer === undefined) return false;
    return producer.step === origin.step || readsFrom(process, producer, origin, seen);
  });
}
