import { toTerms } from './segments.ts';
import { findLargest } from './term-index.ts';
import type { Desk, Place } from './write-value.ts';

const STATUS = /not|un(start|done)|to.?do|open|pending|planned|proposed|draft|\[ \]|new/i;
const LEVELS = /low|minor|medium|moderate|high|major|critical|severe/i;

/** Picks one of the listed values by what they are called and what the place is about. */
export function chooseAmong(values: readonly unknown[], desk: Desk, place: Place): unknown {
  const texts = values.map(String);
  const { key } = place.section;
  const guided = texts.findIndex((text) => text === place.focus?.id);
  if (guided >= 0) return values[guided];
  const kept = place.focus?.item?.fields.get(key)?.[0]?.toLowerCase();
  const same = texts.findIndex((text) => text.toLowerCase() === kept);
  if (same >= 0) return values[same];
  if (/status|state|progress/.test(key)) {
    return values[
      Math.max(
        0,
        texts.findIndex((text) => STATUS.test(text)),
      )
    ];
  }
  if (/priorit|importan|order/.test(key)) {
    return values[Math.min(values.length - 1, Math.floor((place.focus?.at ?? 0) / 2))];
  }
  if (texts.filter((text) => LEVELS.test(text)).length > 1)
    return values[levelOf(texts, desk, place)];
  return values[nearest(texts, desk, place)];
}

/** The more a statement leaves open, the higher. */
function levelOf(texts: readonly string[], desk: Desk, place: Place): number {
  const source = place.focus?.source ?? desk.composer.choose(place.section, 1)[0];
  const traits = source?.statement.traits;
  if (!traits) return 0;
  const open =
    Number(traits.figure === '') +
    Number(traits.actor === '') +
    Number(source?.statement.role !== 'task') +
    Number(traits.absolute !== '') +
    Number(traits.risk);
  const step = Math.min(texts.length - 1, Math.round((open / 4) * (texts.length - 1)));
  const falls = /high|major|critical|severe/i.test(texts[0] ?? '');
  return falls ? texts.length - 1 - step : step;
}

/** The value whose words stand closest to the subject; the first where none does. */
function nearest(texts: readonly string[], desk: Desk, place: Place): number {
  const source = place.focus?.source ?? desk.composer.choose(place.section, 1)[0];
  const terms = new Set(source?.statement.terms ?? []);
  const hits = texts.map((text) => toTerms(text).filter((term) => terms.has(term)).length);
  return findLargest(hits, 1)[0] ?? 0;
}
