import type { Calendar } from './calendar.ts';
import { matchOwner, ownerKey } from './owners.ts';
import { countAbsent } from './read-days.ts';
import { toHours } from './read-values.ts';
import type { DayRange, Demand, Person } from './types.ts';

/** Hours that may be asked of a person in each period of `weeks` weeks. */
export type HourLimit = {
  readonly hours: number;
  /** 1 for a week, 4 for a month, 52 for a year, Infinity for the whole plan. */
  readonly weeks: number;
  /** The demand that says so; null where the plan's list of people does. */
  readonly demand: string | null;
};

export type Capacity = {
  readonly key: string;
  /** As the brief or the plan writes it. */
  readonly name: string;
  readonly limits: readonly HourLimit[];
  readonly fromWeek: number;
  readonly toWeek: number;
  readonly daysOff: readonly DayRange[];
};

/** Hours that somebody without a stated limit works in a week. */
const FULL_WEEK = 40;
const PERIOD_WEEKS = { week: 1, '': 1, month: 4, year: 52, once: Number.POSITIVE_INFINITY };

/** Whether a demand limits the hours of somebody and says how many. */
export const limitsEffort = (demand: Demand): demand is Demand & { readonly amount: number } =>
  demand.kind === 'limit' &&
  demand.measure === 'effort' &&
  demand.amount !== null &&
  ownerKey(demand.who) !== '';

/** What each person may be asked, by owner key: from the brief's limits and the list of people. */
export function readCapacities(
  demands: readonly Demand[],
  people: readonly Person[],
): Map<string, Capacity> {
  const found = new Map<string, Capacity>();
  const add = (key: string, name: string, change: Partial<Capacity>): void => {
    const old = found.get(key);
    found.set(key, {
      key,
      name: old?.name ?? name,
      limits: [...(old?.limits ?? []), ...(change.limits ?? [])],
      fromWeek: Math.max(old?.fromWeek ?? 1, change.fromWeek ?? 1),
      toWeek: Math.min(old?.toWeek ?? Infinity, change.toWeek ?? Infinity),
      daysOff: [...(old?.daysOff ?? []), ...(change.daysOff ?? [])],
    });
  };
  for (const demand of demands.filter(limitsEffort)) {
    const amount = { low: demand.amount, high: demand.amount, unit: demand.unit };
    const limit = { hours: toHours(amount).high, weeks: PERIOD_WEEKS[demand.per] };
    add(ownerKey(demand.who), demand.who, { limits: [{ ...limit, demand: demand.id }] });
  }
  const stated = [...found.keys()];
  for (const { name, hoursPerWeek, fromWeek, toWeek, daysOff = [] } of people) {
    const key = matchOwner(name, stated);
    if (key === '') continue;
    const limits = hoursPerWeek === null ? [] : [{ hours: hoursPerWeek, weeks: 1, demand: null }];
    add(key, name, { limits, fromWeek: fromWeek ?? 1, toWeek: toWeek ?? Infinity, daysOff });
  }
  return found;
}

/**
 * Hours a week at which a person works through an item. A limit for the whole plan says nothing
 * about a week; a person without hours is scheduled as if free, and reported elsewhere.
 */
export function weeklyRate(capacity: Capacity | undefined): number {
  const rates = (capacity?.limits ?? [])
    .filter(({ weeks, hours }) => Number.isFinite(weeks) && hours > 0)
    .map(({ weeks, hours }) => hours / weeks);
  return Math.min(FULL_WEEK, ...rates);
}

/**
 * What is left in a week of hours by the week, without holidays and days off: so much as the days
 * that are left have of them. Somebody with a few hours finds them on the days that are left, an
 * hour a day.
 */
export function hoursLeft(
  hours: number,
  capacity: Capacity | undefined,
  week: number,
  calendar: Calendar | null,
): number {
  if (calendar === null) return hours;
  const days = calendar.workingDays(week);
  const present = days.length - countAbsent(days, capacity?.daysOff ?? []);
  return Math.max((hours * present) / calendar.daysAWeek, Math.min(hours, present));
}

/** Hours at which a person works through an item in one week. */
export const rateIn = (
  capacity: Capacity | undefined,
  week: number,
  calendar: Calendar | null,
): number => hoursLeft(weeklyRate(capacity), capacity, week, calendar);
