import type { Calendar } from './calendar.ts';
import { type Capacity, type HourLimit, hoursLeft } from './capacity.ts';
import type { Plan } from './plan.ts';
import { count, EPSILON, formatNumber, joinWords, type Problem } from './problem.ts';
import type { Share } from './spread.ts';

/** A period, by its first week, that asks more than the limit. */
type Excess = {
  readonly week: number;
  readonly last: number;
  readonly low: number;
  readonly high: number;
  readonly ids: readonly string[];
};

const MOST_NAMED = 4;

/** Hours asked of each person at the high estimate, against the person's limits. */
export function checkEffort(plan: Plan, shares: ReadonlyMap<string, readonly Share[]>): Problem[] {
  return [...plan.capacities.values()].flatMap((capacity) => {
    const asked = shares.get(capacity.key) ?? [];
    const worst = capacity.limits
      .map((limit) => ({ limit, excesses: findExcesses(asked, limit, capacity, plan.calendar) }))
      .filter(({ excesses }) => excesses.length > 0)
      .toSorted((a, b) => a.limit.hours / a.limit.weeks - b.limit.hours / b.limit.weeks)
      .toSorted((a, b) => Number(a.limit.demand === null) - Number(b.limit.demand === null))[0];
    return worst === undefined ? [] : [toProblem(capacity, worst.limit, worst.excesses)];
  });
}

function findExcesses(
  asked: readonly Share[],
  limit: HourLimit,
  capacity: Capacity,
  calendar: Calendar | null,
): Excess[] {
  const periods = new Map<number, Share[]>();
  for (const share of asked) {
    const first = Number.isFinite(limit.weeks)
      ? Math.floor((share.week - 1) / limit.weeks) * limit.weeks + 1
      : 1;
    periods.set(first, [...(periods.get(first) ?? []), share]);
  }
  const isThere = ({ week }: Share): boolean =>
    week >= capacity.fromWeek && week <= capacity.toWeek;
  // Holidays and days off weigh in a week; in a month or a year the rest of it makes up for them.
  const hoursOf = (week: number): number =>
    limit.weeks === 1 ? hoursLeft(limit.hours, capacity, week, calendar) : limit.hours;
  return [...periods]
    .map(([week, shares]) => ({
      week,
      last: Number.isFinite(limit.weeks) ? week + limit.weeks - 1 : week,
      low: shares.reduce((sum, share) => sum + share.low, 0),
      high: shares.reduce((sum, share) => sum + share.high, 0),
      allowed: shares.some(isThere) ? hoursOf(week) : 0,
      ids: shares.map(({ id }) => id),
    }))
    .filter(({ high, allowed }) => high > allowed + EPSILON)
    .toSorted((a, b) => a.week - b.week);
}

function toProblem(capacity: Capacity, limit: HourLimit, excesses: readonly Excess[]): Problem {
  const ids = [...new Set(excesses.flatMap((excess) => excess.ids))];
  const name = capacity.name.replace(/^The /, 'the ');
  const period = PERIODS[limit.weeks] ?? 'in all';
  const gives = `${limit.demand ?? 'The plan'} gives ${name} ${count(limit.hours, 'hour')} ${period}`;
  const remedy = 'Move, shorten or hand over some of it.';
  return {
    code: 'effort_over_limit',
    subject: name,
    message: `${gives}${tellPresence(capacity)}; ${tellExcesses(limit, excesses)}: ${ids.join(', ')}. ${remedy}`,
    details: {
      person: capacity.key,
      demand: limit.demand,
      hours: limit.hours,
      items: ids,
      weeks: excesses.map(({ week, low, high }) => ({ week, low, high })),
      /** Whether even the low estimates ask too much. */
      certain: excesses.some(({ low }) => low > limit.hours + EPSILON),
    },
  };
}

/** The weeks in which the person is there, where the plan limits them. */
function tellPresence({ fromWeek, toWeek }: Capacity): string {
  const until = toWeek < Infinity ? ` until week ${toWeek}` : '';
  return fromWeek > 1 || until !== '' ? ` (from week ${fromWeek}${until})` : '';
}

const PERIODS: Readonly<Record<number, string>> = { 1: 'a week', 4: 'a month', 52: 'a year' };

/** "weeks 3 and 4 ask 2.5 and 3 hours (1.5 and 2 at the low estimate)". */
function tellExcesses(limit: HourLimit, excesses: readonly Excess[]): string {
  const figures = (some: readonly Excess[], end: 'low' | 'high'): string =>
    joinWords(some.map((one) => formatNumber(one[end])));
  const low = (some: readonly Excess[]): string => ` (${figures(some, 'low')} at the low estimate)`;
  if (!Number.isFinite(limit.weeks)) {
    return `the plan asks ${figures(excesses, 'high')} hours${low(excesses)}`;
  }
  if (excesses.length > MOST_NAMED) {
    const peak = excesses.reduce((most, one) => (one.high > most.high ? one : most));
    const weeks = `${excesses.length} ${limit.weeks === 1 ? 'weeks' : 'such periods'} ask more`;
    return `${weeks}, most of all week ${peak.week} with ${count(peak.high, 'hour')}${low([peak])}`;
  }
  const names = excesses.map(({ week, last }) => (last > week ? `${week} to ${last}` : `${week}`));
  const one = excesses.length === 1 && limit.weeks === 1;
  const verb = one ? `week ${names[0]} asks` : `weeks ${joinWords(names)} ask`;
  return `${verb} ${figures(excesses, 'high')} hours${low(excesses)}`;
}
