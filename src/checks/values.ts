import { type Day, isDay } from '../text/day.ts';
import { weekEnd, weekStart } from './calendar.ts';
import { rateIn } from './capacity.ts';
import { dayOfGate } from './check-dates.ts';
import { computeEconomics } from './economics.ts';
import { ownerKey } from './owners.ts';
import type { Plan } from './plan.ts';
import { createPrinter, type Printer } from './print-value.ts';
import type { Placed } from './schedule.ts';
import { MOST_WEEKS } from './spread.ts';
import { sumCosts } from './sum-costs.ts';
import { sumEffort } from './sum-effort.ts';

/** A value that follows from the records of a plan, as every document prints it. */
export type NamedValue = {
  /** `hours.planned`, `cost.total`: how a writer names it, in double square brackets. */
  readonly name: string;
  readonly kind: 'hours' | 'money' | 'share' | 'count' | 'day';
  /** Both are equal in all but ranges; 0 for days. */
  readonly low: number;
  readonly high: number;
  readonly day?: Day;
  readonly text: string;
  readonly what: string;
};

export type Values = {
  readonly list: readonly NamedValue[];
  /** Names of weeks (`date.week.3`) are found, too; the list would have no end. */
  readonly find: (name: string) => NamedValue | undefined;
};

/** The names that any plan may use, by the records that give them a value. */
export const VALUE_NAMES = {
  hours: ['hours.low', 'hours.high', 'hours.planned', 'hours.available', 'hours.free'],
  share: ['share.planned', 'share.free'],
  cost: ['cost.once', 'cost.month', 'cost.total', 'cost.limit', 'cost.left'],
  date: ['date.today', 'date.start', 'date.end', 'date.opening', 'date.promised'],
  price: ['price', 'unit.cost', 'unit.margin', 'customers.cover', 'customers.pay'],
} as const;

/** `hours.anna` and `hours.anna.week`, `date.gate.1`, `date.week.3`. */
export const VALUE_PATTERNS =
  /^(?:hours\.[\p{L}\d_]+(?:\.week)?|date\.(?:week|gate)\.[1-9]\d{0,2})$/u;

/** How a person is called in names: `hours.freelance_developer`. */
const nameOfPerson = (name: string): string =>
  name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !/^(?:the|die|der|das)$/.test(word))
    .join('_');

/** Everything that the records of a plan give a value. */
export function computeValues(plan: Plan, shared: readonly Placed[]): Values {
  const printer = createPrinter(plan.calendar?.record.language ?? 'en');
  const list = [
    ...nameHours(plan, shared, printer),
    ...nameCosts(plan, printer),
    ...nameDays(plan, shared, printer),
    ...computeEconomics(plan, printer),
  ];
  const byName = new Map(list.map((value) => [value.name, value]));
  const findWeek = (name: string): NamedValue | undefined => {
    const week = Number(/^date\.week\.([1-9]\d{0,2})$/.exec(name)?.[1]);
    if (plan.calendar === null || !Number.isFinite(week)) return undefined;
    return nameDay(name, weekStart(plan.calendar, week), `Monday of week ${week}`, printer);
  };
  // "hours.the_baker.week" means the bakers, too.
  const people = new Map(
    sumEffort(plan).map(({ name }) => [ownerKey(name), nameOfPerson(name)] as const),
  );
  const findPerson = (name: string): NamedValue | undefined => {
    const [group, person = '', ...rest] = name.split('.');
    const known = group === 'hours' && people.get(ownerKey(person.replaceAll('_', ' ')));
    return known ? byName.get([group, known, ...rest].join('.')) : undefined;
  };
  return { list, find: (name) => byName.get(name) ?? findPerson(name) ?? findWeek(name) };
}

/** The last week that the plan speaks of, within ten years. */
export const lastWeek = (plan: Plan, shared: readonly Placed[]): number =>
  Math.min(
    MOST_WEEKS,
    Math.max(
      0,
      ...(plan.input.milestones ?? []).map(({ toWeek }) => toWeek),
      ...shared.map(({ endWeek }) => endWeek),
    ),
  );

/** Hours that everybody has until the last week; null where somebody's are not known. */
export function sumAvailable(plan: Plan, shared: readonly Placed[]): number | null {
  const owners = new Set(plan.items.flatMap(({ people }) => people));
  const capacities = [...plan.capacities.values()].filter(({ limits }) => limits.length > 0);
  if ([...owners].some((key) => !capacities.some((one) => one.key === key))) return null;
  const last = lastWeek(plan, shared);
  let sum = 0;
  for (const capacity of capacities) {
    const to = Math.min(last, capacity.toWeek);
    for (let week = capacity.fromWeek; week <= to; week += 1) {
      sum += rateIn(capacity, week, plan.calendar);
    }
  }
  return sum;
}

function nameHours(plan: Plan, shared: readonly Placed[], print: Printer): NamedValue[] {
  if (plan.items.length === 0) return [];
  const hours = (name: string, low: number, high: number, what: string): NamedValue => ({
    name,
    kind: 'hours',
    low,
    high,
    text: print.hours(low, high),
    what,
  });
  const share = (name: string, value: number, what: string): NamedValue => ({
    name,
    kind: 'share',
    low: value,
    high: value,
    text: print.share(value),
    what,
  });
  const people = sumEffort(plan);
  const low = plan.items.reduce((sum, { effort }) => sum + (effort?.low ?? 0), 0);
  const high = plan.items.reduce((sum, { effort }) => sum + (effort?.high ?? 0), 0);
  const available = sumAvailable(plan, shared);
  const all = available === null || available === 0 ? null : available;
  return [
    hours('hours.planned', low, high, 'all work items, from their low to their high estimates'),
    hours('hours.low', low, low, 'all work items at their low estimates'),
    hours('hours.high', high, high, 'all work items at their high estimates'),
    ...(all === null
      ? []
      : [
          hours('hours.available', all, all, 'what all people have until the last week'),
          hours('hours.free', all - high, all - high, 'what stays free of it'),
          share('share.planned', high / all, 'of the hours available that work items ask for'),
          share('share.free', 1 - high / all, 'of the hours available that stays free'),
        ]),
    ...people.flatMap((one) => {
      const name = `hours.${nameOfPerson(one.name)}`;
      const week = one.hoursPerWeek;
      return [
        hours(name, one.low, one.high, `work of ${one.name}`),
        ...(week === null ? [] : [hours(`${name}.week`, week, week, `${one.name}, a week`)]),
      ];
    }),
  ];
}

function nameCosts(plan: Plan, print: Printer): NamedValue[] {
  const sums = sumCosts(plan);
  if (sums === null) return [];
  const { currency, once, month, total, limit } = sums;
  const money = (name: string, value: number, what: string): NamedValue => ({
    name,
    kind: 'money',
    low: value,
    high: value,
    text: print.money(value, currency),
    what,
  });
  return [
    money('cost.total', total, 'all costs within the period of the limit, or of the first year'),
    money('cost.once', once, 'what is paid once'),
    money('cost.month', month, 'running costs, by the month'),
    ...(limit === null
      ? []
      : [
          money('cost.limit', limit, 'the limit of the request'),
          money('cost.left', limit - total, 'what the limit leaves'),
        ]),
  ];
}

const nameDay = (name: string, day: Day, what: string, print: Printer): NamedValue => ({
  name,
  kind: 'day',
  low: 0,
  high: 0,
  day,
  text: print.day(day),
  what,
});

function nameDays({ calendar, input }: Plan, shared: readonly Placed[], print: Printer) {
  if (calendar === null) return [];
  const last = Math.max(0, ...shared.map(({ endWeek }) => endWeek));
  const days: [string, Day | null | undefined, string][] = [
    ['date.today', input.today, 'the day of this plan'],
    ['date.start', calendar.start, 'the work begins'],
    ['date.end', last === 0 ? null : weekEnd(calendar, last), 'the last work item ends'],
    ['date.opening', calendar.record.opening, 'it opens'],
    ['date.promised', calendar.record.promised, 'the day by which it was promised'],
    ...(input.gates ?? []).map((gate, at): [string, Day | null, string] => [
      `date.gate.${at + 1}`,
      dayOfGate(calendar, gate),
      `gate ${at + 1}`,
    ]),
  ];
  return days.flatMap(([name, day, what]) =>
    day && isDay(day) ? [nameDay(name, day, what, print)] : [],
  );
}
