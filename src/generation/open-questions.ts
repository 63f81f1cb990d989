import { humanise, isBlank, titleOf, toWords } from '../recipe/markdown-blocks.ts';
import { isRecord } from './json-reader.ts';

/** A question that the document leaves to people, and the part of it that asks. */
export type OpenQuestion = { readonly question: string; readonly where: readonly string[] };

const ASKS = /^(open|unresolved)_(questions?|issues?|decisions?|points?)$/;

/** Finds what is open anywhere in a document, in the order in which it stands there. */
export function gatherOpenQuestions(value: unknown, where: readonly string[] = []): OpenQuestion[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) =>
      gatherOpenQuestions(item, [...where, (isRecord(item) && titleOf(item)) || `${index + 1}`]),
    );
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    if (!ASKS.test(key)) return gatherOpenQuestions(child, [...where, humanise(key)]);
    const asked = Array.isArray(child) ? child : [child];
    return asked.filter((one) => !isBlank(one)).map((one) => ({ question: toWords(one), where }));
  });
}
