import { type Capacity, rateIn } from './capacity.ts';
import type { Plan, PlanItem } from './plan.ts';
import { EPSILON } from './problem.ts';
import type { Placed } from './schedule.ts';

/** Hours that one item asks of one person in one week. */
export type Share = {
  readonly id: string;
  readonly week: number;
  readonly low: number;
  readonly high: number;
};

/** Ten years: a longer spread would only repeat the last week's figure. */
export const MOST_WEEKS = 520;

/**
 * Hours asked of each person, week by week, by owner key. An item is asked from its stated week on,
 * or from the end of its needs if that is later, and for as many weeks as its owner needs if it is
 * their only work. Items without a stated week are left out; `field_missing` names them.
 */
export function spreadWork(
  plan: Plan,
  alone: ReadonlyMap<string, Placed>,
): ReadonlyMap<string, readonly Share[]> {
  const shares = new Map<string, Share[]>();
  for (const item of plan.items) {
    const week = Math.max(
      item.earliestWeek ?? 1,
      ...item.waitsFor.flatMap((key) => alone.get(key)?.endWeek ?? []),
    );
    for (const person of item.people) {
      const own = shares.get(person) ?? [];
      own.push(...spreadItem(plan, item, week, plan.capacities.get(person)));
      shares.set(person, own);
    }
  }
  return shares;
}

function spreadItem(
  { calendar }: Plan,
  item: PlanItem,
  first: number,
  capacity: Capacity | undefined,
): Share[] {
  if (item.effort === null || item.earliestWeek === null) return [];
  const ratio = item.effort.high === 0 ? 0 : item.effort.low / item.effort.high;
  const shares: Share[] = [];
  let left = item.effort.high / item.people.length;
  for (let week = first; left > EPSILON; week += 1) {
    const isLast = week - first + 1 >= MOST_WEEKS;
    const high = isLast ? left : Math.min(rateIn(capacity, week, calendar), left);
    if (high > 0) shares.push({ id: item.id, week, low: high * ratio, high });
    left -= high;
  }
  return shares;
}
