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

/**
 * The smallest pieces of a portion: the fields of a section that is one record
 * (`system_materials#stage_rationale`), and the sections that an entry of the guidance speaks of
 * (`context_for_documents#business_case#strengths`). Itself where it cannot be divided.
 */
export function splitPortion(stage: Stage, step: Step, portion: string): string[] {
  const [section, key, ...deeper] = portion.split(SEPARATOR);
  if (deeper.length > 0) return [portion];
  const parts =
    section === GUIDANCE_SECTION
      ? stepsGuidedBy(stage, step)
          .filter(({ output }) => output.documentKey === key)
          .flatMap((guided) => describeDocument(stage, guided).sections)
      : describeDocument(stage, step)
          .sections.filter(
            (one) => key === undefined && one.key === section && one.type === 'object',
          )
          .flatMap(({ fields }) => fields);
  return parts.length < 2 ? [portion] : parts.map((one) => `${portion}${SEPARATOR}${one.key}`);
}

/** The entry for one document in a stage's plan. */
export const entryPortion = (documentKey: string): string =>
  `${GUIDANCE_SECTION}${SEPARATOR}${documentKey}`;

/** Whether a portion is another one or a piece of it. */
export const isWithin = (portion: string, whole: string): boolean =>
  portion === whole || portion.startsWith(`${whole}${SEPARATOR}`);

/** The sections that portions belong to, each once. */
export const sectionsOf = (portions: readonly string[]): string[] => [
  ...new Set(portions.map((one) => one.split(SEPARATOR)[0] ?? one)),
];

/** The documents whose entries are asked for; none where the guidance is asked for as a whole. */
export const entriesOf = (portions: readonly string[]): string[] =>
  piecesOf(portions, GUIDANCE_SECTION);

/**
 * What is asked for of a section or of an entry, each key once; none where all of it is, or nothing.
 */
export function piecesOf(portions: readonly string[], whole: string): string[] {
  const start = `${whole}${SEPARATOR}`;
  const inner = portions.filter((one) => one.startsWith(start));
  return [...new Set(inner.map((one) => one.slice(start.length).split(SEPARATOR)[0] ?? ''))];
}
