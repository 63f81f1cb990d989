import { describeDocument, stepsGuidedBy } from './contract.ts';
import type { Stage, Step } from './types.ts';

/** The section of a stage's plan that has the guidance for each of its documents. */
export const GUIDANCE_SECTION = 'context_for_documents';
const SEPARATOR = '#';

/**
 * What a document can be asked for in, piece by piece: its sections and, of the guidance in a stage's
 * plan, the entries for single documents (`context_for_documents#business_case`).
 */
export function portionsOf(stage: Stage, step: Step): string[] {
  const sections = describeDocument(stage, step).sections.map(({ key }) => key);
  return expandPortions(stage, step, sections);
}

/** The same for some of its sections. */
export function expandPortions(stage: Stage, step: Step, wanted: readonly string[]): string[] {
  const guided = step.jobType === 'PLAN' ? stepsGuidedBy(stage, step) : [];
  const entries = guided.map(({ output }) => entryPortion(output.documentKey));
  return [
    ...new Set(
      wanted.flatMap((one) => (one === GUIDANCE_SECTION && entries.length > 0 ? entries : [one])),
    ),
  ];
}

/** The entry for one document in a stage's plan. */
export const entryPortion = (documentKey: string): string =>
  `${GUIDANCE_SECTION}${SEPARATOR}${documentKey}`;

/** The sections that portions belong to, each once. */
export const sectionsOf = (portions: readonly string[]): string[] => [
  ...new Set(portions.map((one) => one.split(SEPARATOR)[0] ?? one)),
];

/** The documents whose entries are asked for; none where the guidance is asked for as a whole. */
export const entriesOf = (portions: readonly string[]): string[] =>
  portions.flatMap((one) => one.split(SEPARATOR)[1] ?? []);
