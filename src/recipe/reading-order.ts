import { activeSteps, isShown } from './edges.ts';
import type { Process, Stage, Step, StepInput } from './types.ts';

/** What a step reads, whichever participant wrote it. */
export const sourceOf = ({ stage, documentKey, iteration, type }: StepInput): string =>
  [type === 'project_resource' ? type : '', iteration, stage, documentKey].join('/');

type Reader = { readonly stage: Stage; readonly step: Step; readonly sources: readonly string[] };

/**
 * The order in which a step's prompt gives its documents, by source. Providers bill the beginning
 * of a prompt at a fraction where an earlier prompt began with the same bytes, so each step begins
 * with as many documents as it can in the order of an earlier step of the process. The rest follows
 * by how many steps of the stage read it, then in the order of the debate. It depends on the recipe
 * alone: a later turn of the same document, and another run, have the same order.
 */
export function readingOrder(process: Process, stageKey: string, stepKey: string): string[] {
  const known: (readonly string[])[] = [];
  for (const reader of readersOf(process)) {
    const order = orderFor(process, reader, known);
    if (reader.stage.key === stageKey && reader.step.key === stepKey) return order;
    known.push(order);
  }
  return [];
}

const readersOf = ({ stages }: Process): Reader[] =>
  stages.flatMap((stage) =>
    activeSteps(stage)
      .filter(({ compute }) => compute === null)
      .map((step) => ({ stage, step, sources: sourcesOf(step) })),
  );

/** Feedback stands behind the documents, and the request before them. */
function sourcesOf({ inputs }: Step): string[] {
  const shown = inputs.filter(
    (input) => isShown(input) && input.type !== 'seed_prompt' && input.type !== 'feedback',
  );
  return [...new Set(shown.map(sourceOf))];
}

function orderFor(
  process: Process,
  { stage, sources }: Reader,
  known: readonly (readonly string[])[],
): string[] {
  const begins = known.map((order) => leadingIn(order, sources));
  const begin = begins.reduce((best, one) => (one.length > best.length ? one : best), []);
  const rest = sources.filter((source) => !begin.includes(source));
  return [...begin, ...rest.toSorted(compareIn(process, stage))];
}

/** How an order begins, as far as it names only what is among the sources. */
function leadingIn(order: readonly string[], sources: readonly string[]): readonly string[] {
  const end = order.findIndex((source) => !sources.includes(source));
  return end < 0 ? order : order.slice(0, end);
}

function compareIn({ stages }: Process, stage: Stage) {
  const reading = activeSteps(stage).map(sourcesOf);
  const readers = (source: string): number =>
    reading.filter((sources) => sources.includes(source)).length;
  const stageAt = (source: string): number =>
    stages.findIndex(({ key }) => key === source.split('/')[2]);
  return (a: string, b: string): number =>
    readers(b) - readers(a) || stageAt(a) - stageAt(b) || (a < b ? -1 : 1);
}
