import { Memo } from './memo.ts';

/** A day of the calendar as YYYY-MM-DD: no time and no zone, so that days can be counted. */
export type Day = string;

const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T00:00:00Z');
const PATTERN = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is YYYY-MM-DD and that day exists. */
export function isDay(text: string): boolean {
  if (!PATTERN.test(text)) return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(at) && toDay(at) === text;
}

/** The day of a moment in the time zone of this machine. */
export function localDay(moment: Date): Day {
  return toDay(Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate()));
}

/** Ends with the years of four digits, however many days are counted. */
export const addDays = (day: Day, count: number): Day =>
  toDay(Math.min(LAST_MS, Math.max(FIRST_MS, msOf(day) + count * DAY_MS)));

/** How many days `to` lies after `from`. */
export const daysBetween = (from: Day, to: Day): number =>
  Math.round((msOf(to) - msOf(from)) / DAY_MS);

/** 1 is Monday, 7 is Sunday. */
export const weekdayOf = (day: Day): number => new Date(msOf(day)).getUTCDay() || 7;

/** The Monday of the day's week. */
export const mondayOf = (day: Day): Day => addDays(day, 1 - weekdayOf(day));

/** "Thursday, 19 November 2026", or as the language of the locale writes it. */
export function sayDay(day: Day, locale = 'en-GB'): string {
  const text = formatOf(locale, 'full').format(msOf(day));
  // British English has no comma behind the weekday, which every other form of English has.
  return locale === 'en-GB' ? text.replace(/^(\p{L}+),? /u, '$1, ') : text;
}

/** "4–8 January 2027". */
export const sayDays = (from: Day, to: Day, locale = 'en-GB'): string =>
  // Some locales put a thin space around the dash.
  formatOf(locale, 'long').formatRange(msOf(from), msOf(to)).replaceAll('\u2009', ' ');

/** Locales come from answers of models, too. */
const MOST_FORMATS = 50;
const formats = new Memo<Intl.DateTimeFormat>(MOST_FORMATS);

const formatOf = (locale: string, dateStyle: 'full' | 'long'): Intl.DateTimeFormat =>
  formats.get(
    `${locale} ${dateStyle}`,
    () => new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' }),
  );

const msOf = (day: Day): number => Date.parse(`${day}T00:00:00Z`);
const toDay = (ms: number): Day => new Date(ms).toISOString().slice(0, 10);
