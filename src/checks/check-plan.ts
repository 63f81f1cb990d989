import type { Calendar } from './calendar.ts';
import { type CostTotal, checkCost } from './check-cost.ts';
import { checkCalendar, checkDates } from './check-dates.ts';
import { checkEffort } from './check-effort.ts';
import { checkFields } from './check-fields.ts';
import { checkFigures } from './check-figures.ts';
import { checkFindings } from './check-findings.ts';
import { checkFree, freeShare, type PhaseTotal, sumPhases } from './check-free.ts';
import { checkDemands, checkReferences, listComputed } from './check-references.ts';
import { checkHoursOfPeople, checkTyped } from './check-typed.ts';
import { checkTypedDates } from './check-typed-dates.ts';
import { checkWeeks, type Deadline, findDeadlines } from './check-weeks.ts';
import { checkPrices } from './economics.ts';
import { checkNames } from './names.ts';
import { type Plan, preparePlan } from './plan.ts';
import { compareProblems, type Problem } from './problem.ts';
import { type Placed, type ScheduledItem, scheduleItems } from './schedule.ts';
import { spreadWork } from './spread.ts';
import { type PersonTotal, sumEffort } from './sum-effort.ts';
import type { CheckInput, Gate, Milestone } from './types.ts';
import { computeValues, type Values } from './values.ts';

/** What a plan asks in all. */
type PlanTotals = {
  readonly effort: readonly Omit<PersonTotal, 'key'>[];
  /** One for each limit of money that the whole plan is measured by. */
  readonly costs: readonly CostTotal[];
  /** The week in which the last item ends; 0 without any. */
  readonly endWeek: number;
  readonly deadlines: readonly Deadline[];
  /** Limits that code could not compare with the plan; a reader has to. */
  readonly unchecked: readonly string[];
};

export type CheckResult = {
  /** Null where the plan counts weeks without one. */
  readonly calendar: Calendar | null;
  readonly values: Values;
  /** Hours by person and phase, and the share of them that stays free. */
  readonly phases: readonly PhaseTotal[];
  readonly free: number;
  readonly milestones: readonly Milestone[];
  readonly gates: readonly Gate[];
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
  const deadlines = findDeadlines(plan.input.demands, plan.input.startDate);
  const computed = listComputed(plan, deadlines);
  const cost = checkCost(plan);
  const values = computeValues(plan, placed);
  const shares = spreadWork(plan, alone);
  const phases = sumPhases(plan, shares, placed);
  const problems = [
    ...checkEffort(plan, shares),
    ...cost.problems,
    ...checkWeeks(plan, { alone, shared: placed }, deadlines),
    ...checkReferences(plan),
    ...checkDemands(plan, computed),
    ...checkFindings(plan),
    ...checkFigures(input.documents),
    ...checkFields(plan),
    ...checkCalendar(plan),
    ...checkNames(plan, values),
    ...checkPrices(plan),
    ...(plan.calendar === null ? [] : checkByCalendar(plan, { placed, deadlines, values, phases })),
  ];
  const limits = plan.input.demands.filter(({ kind }) => kind === 'limit');
  return {
    problems: problems.toSorted(compareProblems),
    calendar: plan.calendar,
    values,
    phases,
    free: freeShare(plan),
    milestones: input.milestones ?? [],
    gates: input.gates ?? [],
    schedule: placed.map(({ key: _key, ...item }) => item),
    totals: {
      effort: sumEffort(plan).map(({ key: _key, ...total }) => total),
      costs: cost.totals,
      endWeek: Math.max(0, ...placed.map(({ endWeek }) => endWeek)),
      deadlines,
      unchecked: limits.filter(({ id }) => !computed.has(id)).map(({ id }) => id),
    },
  };
}

/**
 * What is held against dates, and against what documents type: only in plans that keep a calendar,
 * so that those of earlier recipes stay as sound as they were.
 */
const checkByCalendar = (
  plan: Plan,
  found: {
    readonly placed: readonly Placed[];
    readonly deadlines: readonly Deadline[];
    readonly values: Values;
    readonly phases: readonly PhaseTotal[];
  },
): Problem[] => [
  ...checkDates(plan, found.placed, found.deadlines),
  ...checkTypedDates(plan),
  ...checkFree(plan, found.phases),
  ...checkTyped(plan, found.values, found.placed),
  ...checkHoursOfPeople(plan),
];
