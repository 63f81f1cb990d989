import { addDays, type Day, daysBetween, mondayOf, weekdayOf } from '../text/day.ts';
import type { CalendarRecord } from './types.ts';

/** The days on which a country does not work; `platform/holidays.ts` finds them. */
type Country = {
  readonly name: string;
  /** 1 is Monday, 7 is Sunday. */
  readonly weekend: readonly number[];
  readonly holidays: (year: number) => ReadonlyMap<Day, string>;
};

export type FindCountry = (country: string) => Country | null;

/** The weeks of a plan as days. */
export type Calendar = {
  readonly record: CalendarRecord;
  /** The day on which work begins. */
  readonly start: Day;
  /** The Monday of its week. */
  readonly weekOne: Day;
  /** Whose holidays are left out; null where none are known. */
  readonly country: string | null;
  /** What the weeks are counted in, where nothing else is said: Monday to Friday. */
  readonly daysAWeek: number;
  /** From its Monday to its last day of work where no holiday is, in days. */
  readonly span: number;
  readonly holidayOn: (day: Day) => string | undefined;
  readonly isWorkingDay: (day: Day) => boolean;
  /** The days of a week on which work is done, from the day on which the plan begins. */
  readonly workingDays: (week: number) => readonly Day[];
};

/** A plan begins on the Monday after the session's date where it names no day itself. */
export function makeCalendar(
  record: CalendarRecord | null | undefined,
  today: Day | null | undefined,
  findCountry: FindCountry = () => null,
): Calendar | null {
  if (!record) return null;
  const start = record.start ?? (today ? addDays(mondayOf(today), 7) : null);
  if (start === null) return null;
  const country = record.country === '' ? null : findCountry(record.country);
  const weekend = country?.weekend ?? [6, 7];
  const holidayOn = (day: Day): string | undefined =>
    country?.holidays(Number(day.slice(0, 4))).get(day);
  const isWorkingDay = (day: Day): boolean =>
    !weekend.includes(weekdayOf(day)) && holidayOn(day) === undefined;
  const weekOne = mondayOf(start);
  const known = new Map<number, readonly Day[]>();
  return {
    record,
    start,
    weekOne,
    country: country?.name ?? null,
    daysAWeek: 7 - weekend.length,
    span: Math.max(...[1, 2, 3, 4, 5, 6, 7].filter((day) => !weekend.includes(day))) - 1,
    holidayOn,
    isWorkingDay,
    workingDays: (week) => {
      const days =
        known.get(week) ??
        [0, 1, 2, 3, 4, 5, 6]
          .map((at) => addDays(weekOne, 7 * (week - 1) + at))
          .filter((day) => day >= start && isWorkingDay(day));
      known.set(week, days);
      return days;
    },
  };
}

/** The Monday of a week; 1 is the first. */
export const weekStart = ({ weekOne }: Calendar, week: number): Day =>
  addDays(weekOne, 7 * (week - 1));

/** The week of a day; 0 and less before the first. */
export const weekOf = ({ weekOne }: Calendar, day: Day): number =>
  Math.floor(daysBetween(weekOne, day) / 7) + 1;

/** The last day of work of a week; what would be it where it has none. */
export const weekEnd = (calendar: Calendar, week: number): Day =>
  calendar.workingDays(week).at(-1) ?? addDays(weekStart(calendar, week), calendar.span);

/** Weeks since the beginning of week 1 when a day ends: 3 for the last day of work of week 3. */
export function endOfDay(calendar: Calendar, day: Day): number {
  const week = weekOf(calendar, day);
  const days = calendar.workingDays(week);
  if (days.length === 0) return week;
  return week - 1 + days.filter((one) => one <= day).length / days.length;
}
