import { onceForPair } from '../text/memo.ts';
import { describeDocument } from './contract.ts';
import { activeSteps, isShown } from './edges.ts';
import { shrinkTree } from './shrink-tree.ts';
import type { Process, Stage, Step, StepInput } from './types.ts';

/** What a step reads, whichever participant wrote it. */
export const sourceOf = ({ stage, documentKey, iteration, type }: StepInput): string =>
  [type === 'project_resource' ? type : '', iteration, stage, documentKey].join('/');

/** Stands in an order for the text of the stage, which every step of the stage sends. */
export const STAGE_TEXT = 'stage';
/** Stands in an order for a text that steps of the stage share, by its file. */
export const textSource = (file: string): string => `text ${file}`;

/** Shorter texts are not worth taking out of their place. */
const LEAST_SHARED = 400;

/** Words of what the recipe does not say the length of. */
const USUAL_WORDS = { document: 1000, plan: 300, list: 50, text: 60 };

type Reader = {
  readonly stage: string;
  readonly step: string;
  readonly sources: readonly string[];
};

const known = new WeakMap<Process, ReadonlyMap<string, readonly string[]>>();

/**
 * The order in which a step's prompt gives its documents, the text of its stage and those that steps
 * of the stage share. Providers bill the beginning of a prompt at a fraction where an earlier prompt
 * began with the same bytes, so the prompts of a process are to begin alike as far as they can. It
 * depends on the recipe alone: later turns of one document, and other runs, have the same order.
 */
export function readingOrder(
  process: Process,
  stageKey: string,
  stepKey: string,
): readonly string[] {
  return findReadingOrders(process).get(`${stageKey}/${stepKey}`) ?? [];
}

/** Finds the orders of all steps, which takes some ten milliseconds the first time. */
export function findReadingOrders(process: Process): ReadonlyMap<string, readonly string[]> {
  const orders = known.get(process) ?? arrange(process);
  known.set(process, orders);
  return orders;
}

function arrange(process: Process): ReadonlyMap<string, readonly string[]> {
  const readers = process.stages.flatMap((stage) =>
    activeSteps(stage)
      .filter(({ compute }) => compute === null)
      .map((step): Reader => {
        const documents = documentsOf(step).toSorted(compareIn(process));
        const texts = [STAGE_TEXT, ...sharedTexts(stage, step).map(textSource)];
        const own = texts.map((text) => `${stage.key} ${text}`);
        return { stage: stage.key, step: step.key, sources: [...documents, ...own] };
      }),
  );
  return new Map(
    orderSources(readers, sizesIn(process)).map(({ stage, step, sources }) => [
      `${stage}/${step}`,
      sources.map((one) => (one.startsWith(`${stage} `) ? one.slice(stage.length + 1) : one)),
    ]),
  );
}

/** Steps that read the same have one order. */
function orderSources(readers: readonly Reader[], sizes: ReadonlyMap<string, number>): Reader[] {
  const names = [...new Set(readers.flatMap(({ sources }) => sources))];
  const numbers = new Map(names.map((name, at) => [name, at]));
  const sets = new Map(readers.map(({ sources }) => [sources.join('\n'), sources]));
  const orders = shrinkTree(
    [...sets.values()].map((sources) => sources.map((name) => numbers.get(name) ?? 0)),
    names.map((name) => sizes.get(name) ?? USUAL_WORDS.text),
  );
  const bySet = new Map([...sets.keys()].map((set, at) => [set, orders[at] ?? []]));
  return readers.map((reader) => {
    const order = bySet.get(reader.sources.join('\n')) ?? [];
    return { ...reader, sources: order.map((number) => names[number] ?? '') };
  });
}

/** Feedback stands behind the documents, and the request before them. */
function documentsOf({ inputs }: Step): string[] {
  const shown = inputs.filter(
    (input) => isShown(input) && input.type !== 'seed_prompt' && input.type !== 'feedback',
  );
  return [...new Set(shown.map(sourceOf))];
}

/** Files of the stage that the prompt of the step takes in and others may say in the same words. */
export const sharedTexts = onceForPair(({ files }: Stage, { prompt }: Step): readonly string[] => {
  const text = files[prompt ?? ''] ?? '';
  return Object.keys(files).filter(
    (file) =>
      file !== prompt &&
      text.includes(`'${file}'`) &&
      (isShareable(files[file] ?? '') || namesInputs(text, file)),
  );
});

/** Whether a prompt takes in a text that depends on its inputs alone, as steps that read the same do. */
const namesInputs = (prompt: string, file: string): boolean =>
  prompt.includes(`render '${file}', inputs: inputs %}`);

/** Whether a text is the same in every prompt, and long enough to be taken out of its place. */
export const isShareable = (text: string): boolean =>
  text.trim().length >= LEAST_SHARED && !/\{[{%]/.test(text);

/** The order of the debate. */
function compareIn({ stages }: Process) {
  const stageAt = (source: string): number =>
    stages.findIndex(({ key }) => key === source.split('/')[2]);
  return (a: string, b: string): number => stageAt(a) - stageAt(b) || (a < b ? -1 : 1);
}

/** About how long each source is, in words; how long it will be in fact is not known yet. */
function sizesIn({ stages }: Process): ReadonlyMap<string, number> {
  const made = new Map(
    stages.flatMap((stage) =>
      stage.steps.map((step) => {
        const { words } = describeDocument(stage, step);
        const usual = step.compute === null ? USUAL_WORDS.document : USUAL_WORDS.list;
        return [`${stage.key}/${step.output.documentKey}`, words || usual] as const;
      }),
    ),
  );
  const inputs = stages.flatMap(({ steps }) => steps.flatMap((step) => step.inputs));
  return new Map(
    inputs.map((input): [string, number] => {
      // The plan of a stage is shown without the guidance that is for single documents; what a pass
      // before this one made is not there in the first pass.
      if (input.type === 'header_context') return [sourceOf(input), USUAL_WORDS.plan];
      if (input.iteration === 'previous') return [sourceOf(input), USUAL_WORDS.list];
      const words = made.get(`${input.stage}/${input.documentKey}`) ?? USUAL_WORDS.document;
      return [sourceOf(input), words];
    }),
  );
}
