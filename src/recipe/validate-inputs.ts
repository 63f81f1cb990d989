import { findProducer, findStage, isProduced } from './edges.ts';
import { RESOURCE_KINDS } from './render-prompt.ts';
import type { Process, Stage, Step, StepInput } from './types.ts';
import type { AddToStep } from './validate-stage.ts';

type InputCheck = {
  readonly process: Process;
  readonly stage: Stage;
  readonly position: number;
  readonly step: Step;
  readonly add: AddToStep;
};

/** Checks that everything a step reads can exist by the time it runs. */
export function checkInputs(check: InputCheck): void {
  for (const [index, input] of check.step.inputs.entries()) {
    if (input.type === 'project_resource') checkResource(check, input, index);
    else if (input.type !== 'source_digest') checkSource(check, input, index);
  }
}

function checkResource({ add }: InputCheck, input: StepInput, index: number): void {
  const kinds: readonly string[] = RESOURCE_KINDS;
  if (input.documentKey === null || kinds.includes(input.documentKey)) return;
  const message = `${input.documentKey} is no kind of resource; kinds are ${kinds.join(', ')}`;
  add('field_invalid', ['inputs', index, 'document_key'], message);
}

function checkSource(check: InputCheck, input: StepInput, index: number): void {
  const { process, add } = check;
  const source = findStage(process, input.stage);
  if (source === undefined) {
    if (!input.required && process.omitted.includes(input.stage ?? '')) return;
    const message = `there is no stage ${input.stage}`;
    add('missing_producer', ['inputs', index, 'stage'], message);
    return;
  }
  checkProducer(check, source, input, index);
  checkOrder(check, source, input, index);
}

function checkProducer(check: InputCheck, source: Stage, input: StepInput, index: number): void {
  const { add } = check;
  const at = ['inputs', index, 'document_key'];
  if (input.type === 'seed_prompt') {
    if (source.seedPrompt === null) {
      add('missing_producer', ['inputs', index], `the stage ${source.key} has no seed_prompt`);
    }
    return;
  }
  if (input.documentKey === null) {
    if (input.type !== 'feedback') {
      add('field_invalid', at, `an input of type ${input.type} needs a document_key`);
    }
    return;
  }
  const asDocument = input.type === 'feedback' ? { ...input, type: 'document' as const } : input;
  const asHeader = { ...input, type: 'header_context' as const };
  if (findProducer(source, asDocument) !== undefined) return;
  if (input.type === 'feedback' && findProducer(source, asHeader) !== undefined) return;
  if (!input.required && isSkipped(source, input.documentKey)) return;
  const message = `no step of ${source.key} makes the ${input.type} ${input.documentKey}`;
  add('missing_producer', at, message);
}

/** What a skipped step would have made is simply absent for those who can do without. */
const isSkipped = (source: Stage, documentKey: string): boolean =>
  source.steps.some((step) => step.skip && step.output.documentKey === documentKey);

/** Later stages, and people who have read this one, come too late for the current iteration. */
function checkOrder(check: InputCheck, source: Stage, input: StepInput, index: number): void {
  const { process, position, add } = check;
  if (input.iteration === 'previous') {
    if (!input.required) return;
    const message = `${input.name} is required from the previous iteration; the first has none`;
    add('never_produced', ['inputs', index, 'required'], message);
    return;
  }
  const from = process.stages.indexOf(source);
  const late = input.type === 'feedback' ? from >= position : from > position;
  if (!late) return;
  const reason = isProduced(input)
    ? `the stage ${source.key} runs later`
    : `it exists only after the stage ${source.key} has started or ended`;
  const message = `${input.name} can never be there: ${reason}; iteration: previous may be meant`;
  add('never_produced', ['inputs', index, 'stage'], message);
}
