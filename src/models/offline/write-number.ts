import type { Source } from './material.ts';
import { type Measure, measure } from './rivals.ts';
import type { Desk, Place } from './write-value.ts';

const SCORE = /score|value|rating|grade|points|confidence|likelihood|impact|severity|probability/;

/** Whether a record gives a score, so that its reason has to tell how it came about. */
export const isScored = (siblings: readonly string[]): boolean =>
  siblings.some((name) => SCORE.test(name.toLowerCase()));

/** A number that was counted, within the limits. */
export function writeNumber(desk: Desk, place: Place): number {
  const [low, high] = rangeOf(place);
  const integer = place.schema['type'] !== 'number';
  const value = pickNumber(desk, place, low, high);
  const rounded = integer ? Math.round(value) : Math.round(value * 100) / 100;
  return clamp(rounded, place, integer);
}

function pickNumber(desk: Desk, place: Place, low: number, high: number): number {
  const { focus } = place;
  const { key } = place.section;
  const { requirements } = desk.composer.material;
  if (/rank|position|order|ordinal|^no$|number$/.test(key)) return (focus?.at ?? 0) + 1;
  if (/iteration|pass|version/.test(key)) return 1;
  if (/weight|share/.test(key)) return 1 / (focus?.of ?? 1);
  if (SCORE.test(key)) {
    if (focus?.rival && !focus.dimension) return low + (high - low) * (focus.rival.score / 10);
    return low + (high - low) * measureFor(desk, place).share;
  }
  return Math.max(1, focus?.requirements.length ?? requirements.length);
}

/** What is counted: the subject of the score in the documents that it is about. */
export function measureFor(desk: Desk, place: Place): Measure {
  const { material } = desk.composer;
  const { focus } = place;
  const parent = place.section.path.at(-2) ?? place.section.key;
  const subject = focus?.dimension ?? parent.replaceAll('_', ' ');
  if (focus?.rival && /fit|align|complete|coverage/.test(subject)) {
    return { share: focus.rival.coverage, reason: focus.rival.reason };
  }
  if (focus?.rival) return measure(subject, focus.rival.input.sources, focus.rival.label);
  const documents = material.inputs.filter((input) => input.block.kind === 'document');
  const sources: readonly Source[] = [...new Set(documents.flatMap((input) => input.sources))];
  if (sources.length > 0) {
    const label = documents.length === 1 ? documents[0]!.block.label : 'the documents';
    return measure(subject, sources, label);
  }
  return measure(subject, material.sources, 'the request');
}

/** From the schema, from words such as `1 to 10`, else 1 to 5. */
function rangeOf({ schema, section }: Place): readonly [number, number] {
  const said = /(?<!\d)(\d+)\s*(?:to|-|–|\.\.|and)\s*(\d+)/.exec(section.description);
  const low = numberOr(schema['minimum'], said ? Number(said[1]) : 1);
  const high = numberOr(schema['maximum'], said ? Number(said[2]) : Math.max(5, low + 4));
  return [low, Math.max(low, high)];
}

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' ? value : otherwise;

function clamp(value: number, { schema }: Place, integer: boolean): number {
  const low = numberOr(schema['minimum'], Number.NEGATIVE_INFINITY);
  const high = numberOr(schema['maximum'], Number.POSITIVE_INFINITY);
  const least = integer ? Math.ceil(low) : low;
  const most = integer ? Math.floor(high) : high;
  return Math.max(least, Math.min(most, value));
}

/** True where the record is the first choice or the statement demands it. */
export function writeTruth({ section, focus }: Place): boolean {
  if (/prefer|recommend|chosen|selected|best|winner/.test(section.key)) return focus?.at === 0;
  if (/require|mandatory|must|critical/.test(section.key)) {
    return focus?.source.statement.role !== 'context';
  }
  return false;
}
