import { weeklyRate } from './capacity.ts';
import { type CostTotal, checkCost } from './check-cost.ts';
import { checkEffort } from './check-effort.ts';
import { checkFields } from './check-fields.ts';
import { checkFigures } from './check-figures.ts';
import { checkFindings } from './check-findings.ts';
import { checkDemands, checkReferences, listComputed } from './check-references.ts';
import { checkWeeks, type Deadline, findDeadlines } from './check-weeks.ts';
import { compareTexts } from './ids.ts';
import { type Plan, preparePlan } from './plan.ts';
import { compareProblems, type Problem } from './problem.ts';
import { type ScheduledItem, scheduleItems } from './schedule.ts';
import type { CheckInput } from './types.ts';

/** What a plan asks in all. */
type PlanTotals = {
  readonly effort: readonly PersonTotal[];
  /** One for each limit of money that the whole plan is measured by. */
  readonly costs: readonly CostTotal[];
  /** The week in which the last item ends; 0 without any. */
  readonly endWeek: number;
  readonly deadlines: readonly Deadline[];
  /** Limits that code could not compare with the plan; a reader has to. */
  readonly unchecked: readonly string[];
};

type PersonTotal = {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  /** Null where neither the brief nor the plan says. */
  readonly hoursPerWeek: number | null;
};

export type CheckResult = {
  /** The gravest first. */
  readonly problems: readonly Problem[];
  readonly schedule: readonly ScheduledItem[];
  readonly totals: PlanTotals;
};

/** Everything that code can say about a plan: its faults, its earliest weeks and its sums. */
export function checkPlan(input: CheckInput): CheckResult {
  const plan = preparePlan(input);
  const placed = scheduleItems(plan, true);
  const alone = new Map(scheduleItems(plan, false).map((item) => [item.key, item]));
  const deadlines = findDeadlines(plan.input.demands, input.startDate);
  const computed = listComputed(plan, deadlines);
  const cost = checkCost(plan);
  const problems = [
    ...checkEffort(plan, alone),
    ...cost.problems,
    ...checkWeeks(plan, { alone, shared: placed }, deadlines),
    ...checkReferences(plan),
    ...checkDemands(plan, computed),
    ...checkFindings(plan),
    ...checkFigures(input.documents),
    ...checkFields(plan),
  ];
  const limits = plan.input.demands.filter(({ kind }) => kind === 'limit');
  return {
    problems: problems.toSorted(compareProblems),
    schedule: placed.map(({ key: _key, ...item }) => item),
    totals: {
      effort: sumEffort(plan),
      costs: cost.totals,
      endWeek: Math.max(0, ...placed.map(({ endWeek }) => endWeek)),
      deadlines,
      unchecked: limits.filter(({ id }) => !computed.has(id)).map(({ id }) => id),
    },
  };
}

function sumEffort(plan: Plan): PersonTotal[] {
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
      return { ...sum, hoursPerWeek };
    });
}
