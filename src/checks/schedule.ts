import { rateIn, weeklyRate } from './capacity.ts';
import { compareIds } from './ids.ts';
import type { Plan, PlanItem } from './plan.ts';
import { EPSILON } from './problem.ts';
import type { Effort } from './types.ts';

/** When an item can be worked on at the earliest. */
export type ScheduledItem = {
  readonly id: string;
  readonly title: string;
  /** As the plan writes them. */
  readonly owners: readonly string[];
  readonly effort: Effort | null;
  readonly statedWeek: number | null;
  /** Weeks since the beginning of week 1, with fractions. */
  readonly start: number;
  readonly end: number;
  readonly startWeek: number;
  readonly endWeek: number;
  /** The item that it waits for, be it a need or the owner's previous work; null for none. */
  readonly after: string | null;
};

export type Placed = ScheduledItem & { readonly key: string };

/** Nobody works for so many weeks on one item; it ends there if its owners are never present. */
const MOST_WEEKS = 520;

/** When an item ends that begins at `start`, if its owners do nothing else, at the high estimate. */
function endOf(plan: Plan, item: PlanItem, start: number): number {
  const share = Math.max(0, (item.effort?.high ?? 0) / Math.max(1, item.people.length));
  const owners = [undefined, ...item.people.map((person) => plan.capacities.get(person))];
  if (plan.calendar === null) return start + share / Math.min(...owners.map(weeklyRate));
  let at = start;
  for (let left = share; left > EPSILON && at < start + MOST_WEEKS; ) {
    const week = Math.floor(at + EPSILON) + 1;
    const rate = Math.min(...owners.map((owner) => rateIn(owner, week, plan.calendar)));
    const rest = week - at;
    if (rate * rest >= left) return at + left / rate;
    left -= rate * rest;
    at = week;
  }
  return at;
}

/**
 * Items in an order in which needs come first. The order follows stated weeks, depth and ids and
 * not efforts or hours: with a fixed order and no filling of gaps, every end is the longest path
 * through a fixed graph, so that more hours or less effort never make anything later (greedy
 * lists that choose by duration do that, Graham 1969).
 */
function orderItems(plan: Plan): PlanItem[] {
  const ranks = new Map<string, { readonly week: number; readonly depth: number }>();
  const rankOf = (root: PlanItem): void => {
    const stack = [root];
    for (let item = stack.at(-1); item !== undefined; item = stack.at(-1)) {
      const missing = item.waitsFor
        .filter((key) => !ranks.has(key))
        .flatMap((key) => plan.byKey.get(key) ?? []);
      if (missing.length > 0 && !ranks.has(item.key)) {
        stack.push(...missing);
        continue;
      }
      stack.pop();
      const needs = item.waitsFor.flatMap((key) => ranks.get(key) ?? []);
      const week = Math.max(item.earliestWeek ?? 1, ...needs.map((need) => need.week));
      ranks.set(item.key, { week, depth: Math.max(0, ...needs.map(({ depth }) => depth + 1)) });
    }
  };
  for (const item of plan.items) if (!ranks.has(item.key)) rankOf(item);
  return plan.items.toSorted((a, b) => {
    const [one, two] = [ranks.get(a.key)!, ranks.get(b.key)!];
    return one.week - two.week || one.depth - two.depth || compareIds(a.key, b.key);
  });
}

/**
 * The earliest weeks by needs, stated weeks and the hours of the owners. `sharing` makes an owner
 * do one item after the other; without it each item has its owners to itself.
 */
export function scheduleItems(plan: Plan, sharing: boolean): Placed[] {
  const ends = new Map<string, { readonly at: number; readonly id: string }>();
  const free = new Map<string, { readonly at: number; readonly id: string }>();
  return orderItems(plan).map((item) => {
    const arrivals = item.people.map((key) => (plan.capacities.get(key)?.fromWeek ?? 1) - 1);
    const given = Math.max((item.earliestWeek ?? 1) - 1, ...arrivals);
    const waits = [
      ...item.waitsFor.flatMap((key) => ends.get(key) ?? []),
      ...(sharing ? item.people.flatMap((key) => free.get(key) ?? []) : []),
    ];
    let last: { readonly at: number; readonly id: string | null } = { at: given, id: null };
    for (const wait of waits) if (wait.at > last.at) last = wait;
    const start = last.at;
    const end = endOf(plan, item, start);
    ends.set(item.key, { at: end, id: item.id });
    for (const key of item.people) free.set(key, { at: end, id: item.id });
    const startWeek = Math.floor(start + EPSILON) + 1;
    const { key, id, title, owners, effort, earliestWeek: statedWeek } = item;
    const endWeek = Math.max(startWeek, Math.ceil(end - EPSILON));
    const at = { start, end, startWeek, endWeek, after: last.id };
    return { key, id, title, owners, effort, statedWeek, ...at };
  });
}
