import { compareTexts } from './ids.ts';
import { joinWords, type Problem } from './problem.ts';
import { readAmount, readUnit } from './read-values.ts';
import type { CheckedDocument, Figure } from './types.ts';

type Place = { readonly title: string; readonly figure: Figure };

const SMALL_WORDS = new Set('the a an of for in on at our its and der die das des'.split(' '));
/** "orders per customer" is not "customers per order". */
const DIRECTED = new Set(['per', 'from', 'to', 'before', 'after', 'between', 'pro']);

/** Named values that have another figure or unit in another place. */
export function checkFigures(documents: readonly CheckedDocument[]): Problem[] {
  const places = new Map<string, Place[]>();
  for (const { title, figures } of documents) {
    for (const figure of figures) {
      const key = nameKey(figure.name);
      if (key === '' || figure.value === '') continue;
      places.set(key, [...(places.get(key) ?? []), { title, figure }]);
    }
  }
  return [...places.values()].flatMap((all) => compareFigures(all));
}

/** What "Budget for the first year" and "first-year budget" share. */
function nameKey(name: string): string {
  const words = name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !SMALL_WORDS.has(word))
    .map((word) => (word.length > 3 ? word.replace(/([^s])s$/, '$1') : word));
  return (words.some((word) => DIRECTED.has(word)) ? words : words.toSorted()).join(' ');
}

/** Groups places of equal figures; two groups mean that the value changed. */
function compareFigures(places: readonly Place[]): Problem[] {
  // Figures with a unit come first, so that one without is like the first whose value it has.
  const sorted = places.toSorted(
    (a, b) =>
      Number(measure(a.figure).unit === '') - Number(measure(b.figure).unit === '') ||
      compareTexts(describe(a.figure), describe(b.figure)) ||
      compareTexts(a.title, b.title),
  );
  const groups: [Place, ...Place[]][] = [];
  for (const place of sorted) {
    const like = groups.find(([first]) => isSame(first.figure, place.figure));
    if (like === undefined) groups.push([place]);
    else like.push(place);
  }
  if (groups.length < 2) return [];
  const values = groups.map((group) => ({
    value: describe(group[0].figure),
    documents: [...new Set(group.map(({ title }) => title))],
  }));
  const [name = ''] = places.map(({ figure }) => figure.name).toSorted(compareTexts);
  const told = values.map(({ value, documents }) => `${value} in ${joinWords(documents)}`);
  return [
    {
      code: 'figure_changed',
      subject: name,
      message: `“${name}” has ${values.length} values: ${told.join('; ')}. Use one everywhere.`,
      details: { values },
    },
  ];
}

const describe = ({ value, unit }: Figure): string =>
  readUnit(value) === '' && unit !== '' ? `${value} ${unit}` : value;

type Measure = { readonly low: number; readonly high: number; readonly unit: string };

/** Units of one dimension, in their smallest; others compare by name. */
const FACTORS: Readonly<Record<string, readonly [string, number]>> = {
  minutes: ['minutes', 1],
  hours: ['minutes', 60],
  days: ['days', 1],
  weeks: ['days', 7],
  months: ['months', 1],
  years: ['months', 12],
};

/** A figure in the smallest unit of its dimension; text that holds no figure is its own unit. */
function measure({ value, unit }: Figure): Measure {
  const amount = readAmount(value);
  if (amount === null) return { low: 0, high: 0, unit: value.toLowerCase() };
  const named = amount.unit || readUnit(unit) || unit.trim().toLowerCase();
  const [base, factor] = FACTORS[named] ?? [named, 1];
  return { low: amount.low * factor, high: amount.high * factor, unit: base };
}

/** The same value in the same unit; a unit that one of them leaves out is taken from the other. */
function isSame(a: Figure, b: Figure): boolean {
  const [one, two] = [measure(a), measure(b)];
  if (one.unit === two.unit) return isNear(one.low, two.low) && isNear(one.high, two.high);
  const [first, second] = [readAmount(a.value), readAmount(b.value)];
  if ((one.unit !== '' && two.unit !== '') || first === null || second === null) return false;
  return isNear(first.low, second.low) && isNear(first.high, second.high);
}

const isNear = (a: number, b: number): boolean =>
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
