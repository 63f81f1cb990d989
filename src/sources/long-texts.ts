import { canonicalKey } from './canonical-key.ts';
import type { SourceDraft } from './source.ts';

/** What was worked out for the excerpts of a source. */
type Known = {
  readonly texts: readonly string[];
  readonly values: Map<string, unknown>;
};

/** In characters: what is made of shorter texts takes less than a millisecond. */
const LONG = 100_000;

const known = new WeakMap<readonly string[], Known>();

/**
 * What a pure function makes of the excerpts of a source, made once for long ones: a plan, the run that
 * follows it and every audit ask for the same of a text, and 9 MB take half a second each time. It is
 * kept as long as the list of excerpts, and made anew where that list was changed.
 */
export function onceForTexts<Value>(
  excerpts: readonly string[],
  name: string,
  make: () => Value,
): Value {
  if (excerpts.reduce((sum, { length }) => sum + length, 0) < LONG) return make();
  let own = known.get(excerpts);
  if (
    own?.texts.length !== excerpts.length ||
    own.texts.some((text, at) => text !== excerpts[at])
  ) {
    own = { texts: [...excerpts], values: new Map() };
    known.set(excerpts, own);
  }
  if (!own.values.has(name)) own.values.set(name, make());
  return own.values.get(name) as Value;
}

/** The key of a draft, of which a plan and the run that follows it ask one after the other. */
export function keyOfDraft(draft: SourceDraft): string {
  const { title, doi, isbn, url, excerpts } = draft;
  const name = `key ${JSON.stringify([title, doi, isbn, url])}`;
  return onceForTexts(excerpts, name, () => canonicalKey(draft));
}
