/** An amount as a model writes it: `8`, `"8-12 h"`, `"€1,200 per month"`. */
type Amount = { readonly low: number; readonly high: number; readonly unit: string };

/** Trimmed text of a string, a number or a list of those; empty for anything else. */
export function readText(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  if (Array.isArray(value)) return value.map(readText).filter(Boolean).join(', ');
  return '';
}

const NOTHING = /^(none|nothing|nil|no|free|included|n\/?a|not applicable|keine?|nichts|[-–—]*)$/i;

/** Whether the writer says that there is nothing here, which is an answer. */
export const saysNothing = (text: string): boolean => NOTHING.test(text.trim().replace(/\.$/, ''));

/**
 * A figure or a range with its unit; null where there is no figure. Groups of three behind a comma,
 * a blank or an apostrophe are thousands; behind a point they are so only in money, since `1.500`
 * hours are one and a half.
 */
export function readAmount(value: unknown): Amount | null {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? { low: value, high: value, unit: '' } : null;
  }
  const text = readText(value);
  const unit = readUnit(text);
  const found = [...text.matchAll(FIGURE)];
  const figures = found.slice(0, 2).map(([, digits = '', scale]) => ({
    value: toNumber(digits, /^[A-Z]{3}$/.test(unit)) * (SCALES[scale?.toLowerCase() ?? ''] ?? 1),
    scaled: scale !== undefined,
  }));
  const [first, second] = figures;
  if (first === undefined) return null;
  if (second === undefined || !hasRange(text, found)) {
    return { low: first.value, high: first.value, unit };
  }
  // "10-12k" means ten to twelve thousand.
  const scale = second.scaled && !first.scaled && first.value * 100 < second.value ? 1_000 : 1;
  const ends = [first.value * scale, second.value];
  return { low: Math.min(...ends), high: Math.max(...ends), unit };
}

const DIGITS = String.raw`\d+(?:[,.]\d+|[ '’\u00a0\u202f]\d{3}(?!\d))*`;
const FIGURE = new RegExp(
  String.raw`(?<![\p{L}\d])(${DIGITS})(?:\s?(k|mio|million)(?!\p{L}))?`,
  'giu',
);
/** What stands between the two ends of a range: the first one's unit, and a dash or a word. */
const BETWEEN = /^\s?(?:[\p{L}€$£.]{1,40})?\s?(?:-|–|—|to|bis|and|…|\.{2,4})\s?[€$£]?\s?$/iu;

/** Whether two figures that follow each other are the ends of a range. */
const hasRange = (text: string, figures: readonly RegExpExecArray[]): boolean =>
  figures.some(({ 1: digits = '', index }, at) => {
    const next = figures[at + 1];
    return next !== undefined && BETWEEN.test(text.slice(index + digits.length, next.index));
  });
const SCALES: Readonly<Record<string, number>> = { k: 1e3, mio: 1e6, million: 1e6 };

function toNumber(digits: string, money: boolean): number {
  const plain = digits.replaceAll(/[ '’\u00a0\u202f]/g, '');
  const last = Math.max(plain.lastIndexOf(','), plain.lastIndexOf('.'));
  if (last < 0) return Number(plain);
  const both = plain.includes(',') && plain.includes('.');
  const groups = /^\d{1,3}([.,]\d{3})+$/.test(plain) && !plain.startsWith('0');
  const thousands = groups && (plain[last] === ',' || money || plain.split('.').length > 2);
  if (!both && thousands) return Number(plain.replaceAll(/[.,]/g, ''));
  return Number(`${plain.slice(0, last).replaceAll(/[.,]/g, '')}.${plain.slice(last + 1)}`);
}

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/€|\beuros?\b|\beur\b/i, 'EUR'],
  [/£|\bgbp\b|\bpounds?\b/i, 'GBP'],
  [/\bchf\b|\bfrancs?\b|\bfranken\b/i, 'CHF'],
  [/\$|\busd\b|\bdollars?\b/i, 'USD'],
  [/%|\bper ?cent\b|\bprozent\b/i, 'percent'],
  [/(^|[\d\s-])(min|mins|minutes?|minuten?)\b/i, 'minutes'],
  [/(^|[\d\s-])(h|hrs?|hours?|stunden?|std)\b/i, 'hours'],
  [/(^|[\d\s-])(d|days?|tage?n?|pt)\b/i, 'days'],
  [/(^|[\d\s-])(w|wks?|weeks?|wochen?)\b/i, 'weeks'],
  [/(^|[\d\s-])(months?|monate?n?)\b/i, 'months'],
  [/(^|[\d\s-])(y|yrs?|years?|jahre?n?)\b/i, 'years'],
];

/** The unit in a text, in one spelling; empty where it names none that is known. */
export function readUnit(text: string): string {
  const before = text.replace(/(\/|\bper\b|\ba\b|\beach\b|\bpro\b)[^]*/i, ' ');
  return UNITS.find(([pattern]) => pattern.test(before.replaceAll('_', ' ')))?.[1] ?? '';
}

/** The period behind `per`, `/` or in `monthly`; empty where there is none. */
export function readPer(text: string): 'week' | 'month' | 'year' | 'once' | '' {
  if (/\b(once|one-?off|one-?time|total|einmalig)\b/i.test(text)) return 'once';
  if (/week|woche|wöchentlich/i.test(text)) return 'week';
  if (/month|\bmo\b|monat/i.test(text)) return 'month';
  if (/year|annual|\byr\b|\bp\.?a\.?\b|jahr|jähr/i.test(text)) return 'year';
  return '';
}

/** Which hours a working day and a working week have, where effort is written in those. */
const HOURS: Readonly<Record<string, number>> = { minutes: 1 / 60, hours: 1, days: 8, weeks: 40 };

/** An amount of effort in hours; `unit` speaks where the amount names none. */
export function toHours(amount: Amount, unit = 'hours'): { low: number; high: number } {
  const factor = HOURS[amount.unit || unit] ?? 1;
  return { low: amount.low * factor, high: amount.high * factor };
}

/** `3`, `"week 3"`, `"W3-4"` and `"month 2"` as a week; the first week is 1. */
export function readWeek(value: unknown): number | null {
  const text = readText(value);
  if (/\d{4}-\d{2}/.test(text)) return null;
  const figure = /\d+(?:\.\d+)?/.exec(text);
  if (figure === null) return null;
  const number = Number(figure[0]);
  if (/month|monat/i.test(text)) return Math.max(1, Math.floor((number - 1) * 4) + 1);
  if (/\b(day|tag)\b/i.test(text)) return Math.max(1, Math.ceil(number / 7));
  return Math.max(1, Math.floor(number));
}
