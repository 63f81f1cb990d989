import { matchOwner, ownerKey } from '../../src/checks/owners.ts';
import { EPSILON } from '../../src/checks/problem.ts';
import type { ScheduledItem } from '../../src/checks/schedule.ts';
import type { Person } from '../../src/checks/types.ts';

/** Hours of each owner in each week of the schedule, at the high estimate. */
export type EffortTable = {
  /** From 1 to the last week of the schedule. */
  readonly weeks: readonly number[];
  readonly rows: readonly EffortRow[];
};

type EffortRow = {
  readonly owner: string;
  readonly hoursPerWeek: number | null;
  /** One figure for each week, with at most two decimals. */
  readonly hours: readonly number[];
  readonly total: number;
};

/** Spreads each item evenly over its time in the schedule; several owners take equal parts. */
export function tabulateEffort(
  schedule: readonly ScheduledItem[],
  people: readonly Person[],
): EffortTable {
  const lastWeek = Math.max(0, ...schedule.map(({ endWeek }) => endWeek));
  const weeks = Array.from({ length: lastWeek }, (_, at) => at + 1);
  const known = people.map(({ name }) => ownerKey(name));
  const rows = new Map<string, { readonly owner: string; readonly hours: number[] }>();
  const rowOf = (key: string, owner: string): { readonly hours: number[] } => {
    const row = rows.get(key) ?? { owner, hours: weeks.map(() => 0) };
    rows.set(key, row);
    return row;
  };
  for (const { name } of people) rowOf(ownerKey(name), name);
  for (const item of schedule) {
    const keys = new Map(item.owners.map((owner) => [matchOwner(owner, known), owner]));
    for (const [key, owner] of keys) {
      const { hours } = rowOf(key, owner);
      for (let week = item.startWeek; week <= item.endWeek; week += 1) {
        hours[week - 1]! += hoursIn(item, week) / keys.size;
      }
    }
  }
  return {
    weeks,
    rows: [...rows].map(([key, { owner, hours }]) => ({
      owner,
      hoursPerWeek: people.find(({ name }) => ownerKey(name) === key)?.hoursPerWeek ?? null,
      hours: hours.map(round),
      total: round(hours.reduce((sum, one) => sum + one, 0)),
    })),
  };
}

/** The part of an item's effort that falls into a week; work without length falls into its first. */
function hoursIn({ effort, start, end, startWeek }: ScheduledItem, week: number): number {
  const high = effort?.high ?? 0;
  if (end - start < EPSILON) return week === startWeek ? high : 0;
  const overlap = Math.min(end, week) - Math.max(start, week - 1);
  return (high * Math.max(0, overlap)) / (end - start);
}

const round = (value: number): number => Math.round(value * 100) / 100;
