import { weeklyRate } from './capacity.ts';
import { compareTexts } from './ids.ts';
import type { Plan } from './plan.ts';

export type PersonTotal = {
  readonly key: string;
  readonly name: string;
  readonly low: number;
  readonly high: number;
  /** Null where neither the brief nor the plan says. */
  readonly hoursPerWeek: number | null;
};

/** What the work items ask of each person; an item of several is split evenly. */
export function sumEffort(plan: Plan): PersonTotal[] {
  const sums = new Map<string, { name: string; low: number; high: number }>();
  for (const { key, name } of plan.capacities.values()) sums.set(key, { name, low: 0, high: 0 });
  for (const item of plan.items) {
    for (const [at, key] of item.people.entries()) {
      const sum = sums.get(key) ?? { name: item.owners[at] ?? key, low: 0, high: 0 };
      sum.low += (item.effort?.low ?? 0) / item.people.length;
      sum.high += (item.effort?.high ?? 0) / item.people.length;
      sums.set(key, sum);
    }
  }
  return [...sums]
    .toSorted(([a], [b]) => compareTexts(a, b))
    .map(([key, sum]) => {
      const capacity = plan.capacities.get(key);
      const hoursPerWeek = capacity?.limits.length ? weeklyRate(capacity) : null;
      return { key, ...sum, hoursPerWeek };
    });
}
