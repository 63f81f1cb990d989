import { addDays, type Day, daysBetween, isDay, weekdayOf } from '../text/day.ts';
import { readText } from './read-values.ts';
import type { DayRange } from './types.ts';

/** A day in a text. */
export type FoundDay = {
  readonly day: Day;
  /** The weekday that is written before it, where one is. */
  readonly weekday: number | null;
  readonly at: number;
  readonly end: number;
  /** Whether the text names the year; else the day is the first one after the day it was read by. */
  readonly hasYear: boolean;
};

/** Words by which a language writes months and weekdays, in lower case, by number from 1. */
type Words = { readonly months: ReadonlyMap<string, number>; readonly weekdays: Words['months'] };

const known = new Map<string, Words>();

function wordsOf(languages: readonly string[]): Words {
  const key = languages.join();
  const found = known.get(key);
  if (found) return found;
  const months = new Map<string, number>();
  const weekdays = new Map<string, number>();
  for (const language of languages) {
    for (const form of ['long', 'short'] as const) {
      const say = (day: Day, field: 'month' | 'weekday'): string =>
        new Intl.DateTimeFormat(language, { [field]: form, timeZone: 'UTC' })
          .format(Date.parse(day))
          .toLowerCase()
          .replace(/\.$/, '');
      for (let at = 1; at <= 12; at += 1) {
        months.set(say(`2029-${String(at).padStart(2, '0')}-01`, 'month'), at);
      }
      // 1 January 2029 is a Monday.
      for (let at = 1; at <= 7; at += 1) weekdays.set(say(`2029-01-0${at}`, 'weekday'), at);
    }
  }
  const made = { months, weekdays };
  known.set(key, made);
  return made;
}

/** A language that the runtime has no words for is read as English. */
function languagesOf(language: string): string[] {
  try {
    const [one] = Intl.DateTimeFormat.supportedLocalesOf(language || 'en');
    return one === undefined || one.startsWith('en') ? ['en'] : ['en', one];
  } catch {
    return ['en'];
  }
}

const DIGITS = /(\d{4})-(\d{2})-(\d{2})(?!\d)|(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)/g;
const MONTH_FIRST = String.raw`(?<!\p{L})(\p{L}{3,12})\.?\s(\d{1,2})(?:st|nd|rd|th)?(?!\d|[.,:]\d)`;
const DATE_FIRST = String.raw`(?<![\d.,:])(\d{1,2})(?:st|nd|rd|th|\.)?\s(?:of\s)?(\p{L}{3,12})\.?(?!\p{L})`;
const YEAR = String.raw`(?:,?\s(\d{4})(?!\d))?`;
const NAMED = new RegExp(`${MONTH_FIRST}${YEAR}|${DATE_FIRST}${YEAR}`, 'gu');

const WEEKDAY = /(?<!\p{L})(\p{L}{1,20})\.?,?\s(?:(?:the|den)\s)?$/iu;

/** The days that a text names; `near` tells the year of those without one. */
export function findDays(text: string, near: Day, language = 'en'): FoundDay[] {
  const { months, weekdays } = wordsOf(languagesOf(language));
  const found: FoundDay[] = [];
  const add = (match: RegExpExecArray, year: string | undefined, month: number, date: string) => {
    const inYear = (one: number): Day =>
      `${one}-${String(month).padStart(2, '0')}-${date.padStart(2, '0')}`;
    const first = Number(near.slice(0, 4));
    const years = year === undefined ? [first, first + 1] : [Number(year)];
    const day = years.map(inYear).find((one) => isDay(one) && (year !== undefined || one >= near));
    if (day === undefined) return;
    const before = WEEKDAY.exec(text.slice(Math.max(0, match.index - 40), match.index))?.[1];
    const weekday = weekdays.get(before?.toLowerCase() ?? '') ?? null;
    const end = match.index + match[0].length;
    found.push({ day, weekday, at: match.index, end, hasYear: year !== undefined });
  };
  for (const match of text.matchAll(DIGITS)) {
    const [, year, month, date, dotDate, dotMonth, dotYear] = match;
    add(match, year ?? dotYear, Number(month ?? dotMonth), date ?? dotDate ?? '');
  }
  for (const match of text.matchAll(NAMED)) {
    const [, monthFirst, dateAfter, yearAfter, dateFirst, monthAfter, year] = match;
    const month = months.get((monthFirst ?? monthAfter ?? '').toLowerCase());
    if (month !== undefined) add(match, yearAfter ?? year, month, dateAfter ?? dateFirst ?? '');
  }
  return found.toSorted((a, b) => a.at - b.at);
}

/** The first day that a field names with its year; null where it names none. */
export function readDay(value: unknown, language = 'en'): Day | null {
  const days = findDays(readText(value), '2000-01-01', language);
  return days.find(({ hasYear }) => hasYear)?.day ?? null;
}

/** A longer absence is a slip of the pen. */
const LONGEST_ABSENCE = 366;

/** Days and ranges of days: `2026-12-24 to 2027-01-01, 2027-02-12`. */
export function readDayRanges(value: unknown): DayRange[] {
  const parts = Array.isArray(value) ? value.map(readText) : readText(value).split(/[,;\n]/);
  return parts.flatMap((part): DayRange[] => {
    const days = findDays(part, '2000-01-01').filter(({ hasYear }) => hasYear);
    const [from, to] = [days[0]?.day, days.at(-1)?.day];
    if (from === undefined || to === undefined || to < from) return [];
    return daysBetween(from, to) > LONGEST_ABSENCE ? [] : [{ from, to }];
  });
}

/** Days of the ranges that lie among some days. */
export const countAbsent = (days: readonly Day[], ranges: readonly DayRange[]): number =>
  days.filter((day) => ranges.some(({ from, to }) => day >= from && day <= to)).length;

/** Whether a weekday that is written before a day is another one. */
export const isOtherWeekday = ({ day, weekday, hasYear }: FoundDay): boolean =>
  weekday !== null &&
  weekdayOf(day) !== weekday &&
  // Without a year it may be that of the year after.
  (hasYear || weekdayOf(addYear(day)) !== weekday);

function addYear(day: Day): Day {
  const next = `${Number(day.slice(0, 4)) + 1}${day.slice(4)}`;
  return isDay(next) ? next : addDays(day, 366);
}
