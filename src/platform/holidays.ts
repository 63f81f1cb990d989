import type Holidays from 'date-holidays';
import { addDays, type Day } from '../text/day.ts';

/** The days on which a country, or a state of it, does not work. */
type CountryDays = {
  readonly name: string;
  /** 1 is Monday, 7 is Sunday. */
  readonly weekend: readonly number[];
  /** Public holidays of a year, by day. */
  readonly holidays: (year: number) => ReadonlyMap<Day, string>;
};

/** The country that a text names: a code (`DE`, `DE-BY`) or its English name; null for any other. */
export type FindCountryDays = (country: string) => CountryDays | null;

const DAY_MS = 86_400_000;
const LEAST_OF_A_DAY = 0.75;

/** Outside of these the rules say nothing that anybody would rely on. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2200;
const NONE: ReadonlyMap<Day, string> = new Map();

let loading: Promise<FindCountryDays> | undefined;

/** Loads the table of holidays: 0.1 to 0.4 s and 30 MB, so it is loaded when a plan is checked. */
export const loadHolidays = (): Promise<FindCountryDays> =>
  (loading ??= import('date-holidays').then((module) => findIn(module.default)));

function findIn(Table: typeof Holidays): FindCountryDays {
  const table = new Table();
  const names = table.getCountries('en');
  const codes = new Map(Object.entries(names).map(([code, name]) => [name.toLowerCase(), code]));
  // By code and state: models write countries in any way, and those would be kept without end.
  const known = new Map<string, CountryDays>();
  return (text) => {
    const wanted = text.trim();
    const [code = '', part = ''] = (codes.get(wanted.toLowerCase()) ?? wanted)
      .toUpperCase()
      .split('-');
    if (!Object.hasOwn(names, code)) return null;
    const states = (table.getStates(code, 'en') ?? {}) as Readonly<Record<string, string>>;
    const state = Object.hasOwn(states, part) ? part : undefined;
    const key = `${code}-${state ?? ''}`;
    const found =
      known.get(key) ?? makeDays(Table, code, state, [names[code], state && states[state]]);
    known.set(key, found);
    return found;
  };
}

function makeDays(
  Table: typeof Holidays,
  code: string,
  state: string | undefined,
  names: readonly (string | undefined)[],
): CountryDays {
  const options = { languages: 'en', types: ['public' as const] };
  const table = state === undefined ? new Table(code, options) : new Table(code, state, options);
  const years = new Map<number, ReadonlyMap<Day, string>>();
  return {
    name: names.filter(Boolean).join(', '),
    weekend: weekendOf(code),
    holidays: (year) => {
      if (year < FIRST_YEAR || year > LAST_YEAR) return NONE;
      const days = years.get(year) ?? readYear(table, year);
      years.set(year, days);
      return days;
    },
  };
}

/** Each day of a holiday; half days, such as those from noon on, are working days. */
function readYear(table: Holidays, year: number): ReadonlyMap<Day, string> {
  const days = new Map<Day, string>();
  for (const { date, start, end, name } of table.getHolidays(year)) {
    const length = (end.getTime() - start.getTime()) / DAY_MS;
    if (length < LEAST_OF_A_DAY) continue;
    for (let at = 0; at < Math.round(length); at += 1)
      days.set(addDays(date.slice(0, 10), at), name);
  }
  return days;
}

/** As the Unicode tables have it: Friday and Saturday in some countries. */
function weekendOf(code: string): readonly number[] {
  type WithWeek = { readonly weekend: readonly number[] };
  const locale = new Intl.Locale(`und-${code}`) as Intl.Locale & {
    readonly getWeekInfo?: () => WithWeek;
    readonly weekInfo?: WithWeek;
  };
  return (locale.getWeekInfo?.() ?? locale.weekInfo)?.weekend ?? [6, 7];
}
