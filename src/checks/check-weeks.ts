import { idKey } from './ids.ts';
import type { Plan } from './plan.ts';
import { joinWords, type Problem } from './problem.ts';
import type { Placed } from './schedule.ts';
import type { Demand } from './types.ts';

/** The last week in which work may go on. */
export type Deadline = { readonly demand: string; readonly week: number };

const WEEKS: Readonly<Record<string, number>> = {
  days: 1 / 7,
  weeks: 1,
  months: 52 / 12,
  years: 52,
};
/** A time for which something is kept or deleted is no deadline of the plan. */
const KEEPING =
  /delet|eras|retain|retention|\bkeep|\bkept\b|stor(e|ed|age)\b|backup|notice|lösch|aufbewahr/i;

/** Limits of the measure `date`, and of `time` in weeks or months, that code can compute. */
export function findDeadlines(demands: readonly Demand[], startDate?: string): Deadline[] {
  return demands.flatMap((demand) => {
    const { id, measure, amount, unit, text, quote, day, per } = demand;
    const isDate = measure === 'date';
    const isTime =
      measure === 'time' &&
      demand.kind === 'limit' &&
      (per === '' || per === 'once') &&
      /^(weeks|months)$/.test(unit) &&
      !KEEPING.test(`${text} ${quote}`);
    if (!isDate && !isTime) return [];
    if (isDate && day !== null) {
      const days = startDate === undefined ? Number.NaN : daysBetween(startDate, day);
      // The Friday of week n is day 7n - 3 after the first Monday.
      return Number.isFinite(days) ? [{ demand: id, week: Math.floor((days + 3) / 7) }] : [];
    }
    const factor = WEEKS[unit || 'weeks'];
    if (amount === null || factor === undefined) return [];
    return [{ demand: id, week: Math.floor(amount * factor) }];
  });
}

const daysBetween = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / 86_400_000;

/**
 * Stated weeks that needs make impossible, however free the owners are, and work that ends after
 * a deadline when each owner does one thing after the other.
 */
export function checkWeeks(
  plan: Plan,
  schedules: {
    readonly alone: ReadonlyMap<string, Placed>;
    readonly shared: readonly Placed[];
  },
  deadlines: readonly Deadline[],
): Problem[] {
  const { alone, shared } = schedules;
  const early = plan.items.flatMap((item) => {
    const late = item.waitsFor
      .flatMap((key) => alone.get(key) ?? [])
      .filter(({ endWeek }) => item.earliestWeek !== null && item.earliestWeek < endWeek);
    if (late.length === 0) return [];
    const week = Math.max(...late.map(({ endWeek }) => endWeek));
    const needs = late.map(({ id, endWeek }) => `${id} (ends in week ${endWeek})`);
    const problem: Problem = {
      code: 'week_impossible',
      subject: item.id,
      message: `${item.id} states week ${item.earliestWeek}, before the end of what it needs: ${joinWords(needs)}. Week ${week} is the earliest.`,
      details: { stated: item.earliestWeek, earliest: week, needs: late.map(({ id }) => id) },
    };
    return [problem];
  });
  return [...early, ...deadlines.flatMap((deadline) => checkDeadline(plan, shared, deadline))];
}

function checkDeadline(plan: Plan, schedule: readonly Placed[], deadline: Deadline): Problem[] {
  const counted = findCounted(plan, deadline);
  const late = schedule.filter(({ key, endWeek }) => counted.has(key) && endWeek > deadline.week);
  if (late.length === 0) return [];
  const last = late.reduce((most, item) => (item.end > most.end ? item : most));
  const chain = traceChain(schedule, last);
  const ids = late.map(({ id }) => id);
  return [
    {
      code: 'week_impossible',
      subject: deadline.demand,
      message: `The work ends in week ${last.endWeek} at the high estimates, each owner doing one item after the other; ${deadline.demand} asks for the end of week ${deadline.week}. Too late: ${ids.join(', ')}. What takes the time: ${chain.join(' → ')}.`,
      details: { week: last.endWeek, deadline: deadline.week, items: ids, chain },
    },
  ];
}

/**
 * Items that a deadline concerns: those that name it with all that they need, and those that are
 * to begin before it. What is planned for later on purpose is not; if no item names the deadline
 * code cannot tell, and all count.
 */
export function findCounted(plan: Plan, { demand, week }: Deadline): Set<string> {
  const named = plan.items.filter(({ demands }) =>
    demands.some((id) => idKey(id) === idKey(demand)),
  );
  if (named.length === 0) return new Set(plan.byKey.keys());
  const counted = new Set(named.map(({ key }) => key));
  for (const key of counted) {
    for (const need of plan.byKey.get(key)?.waitsFor ?? []) counted.add(need);
  }
  for (const { key, earliestWeek } of plan.items) if ((earliestWeek ?? 1) <= week) counted.add(key);
  return counted;
}

/** The items that follow on each other without a gap up to this one. */
function traceChain(schedule: readonly Placed[], last: Placed): string[] {
  const byId = new Map(schedule.map((item) => [item.id, item]));
  const chain = [last.id];
  for (let at = last.after; at !== null && !chain.includes(at); ) {
    chain.unshift(at);
    at = byId.get(at)?.after ?? null;
  }
  return chain;
}
