import { addDays, type Day, daysBetween, isDay, weekdayOf } from '../text/day.ts';
import { Memo } from '../text/memo.ts';
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

/** Numbers from 1 of months, as a language writes them, and of weekdays, in lower case. */
type Words = { readonly months: ReadonlyMap<string, number>; readonly weekdays: Words['months'] };

/** Sets of languages: a plan has one, and models name it. */
const MOST_SETS = 20;
const known = new Memo<Words>(MOST_SETS);

/** Writes one part of a day as a language does, without a point at its end. */
function sayPart(
  language: string,
  part: 'month' | 'weekday',
  options: Intl.DateTimeFormatOptions,
): (day: Day) => string {
  const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
  return (day) => {
    const found = format.formatToParts(Date.parse(day)).find(({ type }) => type === part);
    return found?.value.replace(/\.$/, '') ?? '';
  };
}

const wordsOf = (languages: readonly string[]): Words =>
  known.get(languages.join(), () => listWords(languages));

function listWords(languages: readonly string[]): Words {
  const months = new Map<string, number>();
  const weekdays = new Map<string, number>();
  for (const language of languages) {
    for (const form of ['long', 'short'] as const) {
      const [alone, beside, weekday] = [
        sayPart(language, 'month', { month: form }),
        // Beside a date some languages decline the month: styczeń, 4 stycznia.
        sayPart(language, 'month', { month: form, day: 'numeric' }),
        sayPart(language, 'weekday', { weekday: form }),
      ];
      for (let at = 1; at <= 12; at += 1) {
        const first = `2029-${String(at).padStart(2, '0')}-01`;
        months.set(alone(first), at).set(beside(first), at);
      }
      // 1 January 2029 is a Monday.
      for (let at = 1; at <= 7; at += 1) weekdays.set(weekday(`2029-01-0${at}`).toLowerCase(), at);
    }
  }
  return { months, weekdays };
}

/** British English writes Sept where American English writes Sep. */
const ENGLISH = ['en', 'en-GB'];

/** A language that the runtime has no words for is read as English. */
function languagesOf(language: string): readonly string[] {
  try {
    const [one] = Intl.DateTimeFormat.supportedLocalesOf(language || 'en');
    return one === undefined || one.startsWith('en') ? ENGLISH : [...ENGLISH, one];
  } catch {
    return ENGLISH;
  }
}

const DIGITS =
  /(\d{4})-(\d{2})-(\d{2})(?!\d)|(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\.?\d)/g;
const MONTH_FIRST = String.raw`(?<!\p{L})(\p{L}{3,12})\.?\s(\d{1,2})(?:st|nd|rd|th)?(?!\d|[.,:]\d)`;
const DATE_FIRST = String.raw`(?<![\d.,:])(\d{1,2})(?:st|nd|rd|th|er|\.)?\s(?:(?:of|de)\s)?(\p{L}{3,12})\.?(?!\p{L})`;
const YEAR = String.raw`(?:,?\s(?:de\s)?(\d{4})(?!\d))?`;
const MONTH_AND_DATE = new RegExp(MONTH_FIRST + YEAR, 'gu');
const DATE_AND_MONTH = new RegExp(DATE_FIRST + YEAR, 'gu');

/** Other years are slips of the pen, or no years. */
const FIRST_YEAR = 1990;
const LAST_YEAR = 2200;
const WEEKDAY = /(?<!\p{L})(\p{L}{1,20})\.?,?\s(?:(?:the|den)\s)?$/iu;

const toTitle = (word: string): string => word.slice(0, 1) + word.slice(1).toLowerCase();

/** The days that a text names; `near` tells the year of those without one. */
export function findDays(
  text: string,
  near: Day,
  language = 'en',
  others: readonly string[] = [],
): FoundDay[] {
  const { months, weekdays } = wordsOf([...languagesOf(language), ...others]);
  const found: FoundDay[] = [];
  /** English and German write months with a capital: "30 may stay" is no day. */
  const monthOf = (word = ''): number | undefined =>
    months.get(word) ??
    months.get(word.toLowerCase()) ??
    (word === word.toUpperCase() ? months.get(toTitle(word)) : undefined);
  const add = (match: RegExpExecArray, year: string | undefined, month: number, date: string) => {
    const inYear = (one: number): Day =>
      `${one}-${String(month).padStart(2, '0')}-${date.padStart(2, '0')}`;
    const first = Number(near.slice(0, 4));
    const years = year === undefined ? [first, first + 1] : [Number(year)];
    if (years.some((one) => one < FIRST_YEAR || one > LAST_YEAR)) return;
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
  for (const match of text.matchAll(DATE_AND_MONTH)) {
    const month = monthOf(match[2]);
    if (month !== undefined) add(match, match[3], month, match[1] ?? '');
  }
  for (const match of text.matchAll(MONTH_AND_DATE)) {
    const month = monthOf(match[1]);
    if (month !== undefined) add(match, match[3], month, match[2] ?? '');
  }
  const sorted = found.toSorted((a, b) => a.at - b.at || b.end - a.end);
  return sorted.filter(({ at }, index) => sorted.slice(0, index).every(({ end }) => end <= at));
}

/** A field of days is read in these as well, whatever the language of the plan. */
const MANY = ['de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'sv'];

/** The first day that a field names with its year; null where it names none. */
export function readDay(value: unknown, language = 'en'): Day | null {
  const days = findDays(readText(value), '2000-01-01', language, MANY);
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
