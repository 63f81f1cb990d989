import type { CheckResult } from './check-plan.ts';
import { drawSchedule } from './draw-schedule.ts';
import { formatNumber } from './problem.ts';
import { tabulateEffort } from './tabulate-effort.ts';
import type { Person } from './types.ts';

/** What a check found, as the sections of a document: problems, totals, schedule, effort. */
export function describeChecks(
  { problems, schedule, totals }: CheckResult,
  people: readonly Person[],
): Record<string, unknown> {
  const table = tabulateEffort(schedule, people);
  return {
    problems: problems.map(({ message }) => message),
    totals: [
      ...totals.costs.map(({ demand, amount, limit, currency }) => ({
        what: `Money (${demand})`,
        sum: `${formatNumber(amount)} ${currency}`.trim(),
        limit: `${formatNumber(limit)} ${currency}`.trim(),
      })),
      ...totals.effort.map(({ name, low, high, hoursPerWeek }) => ({
        what: `Work of ${name}`,
        sum: `${formatNumber(low)} to ${formatNumber(high)} hours`,
        limit: hoursPerWeek === null ? '' : `${formatNumber(hoursPerWeek)} hours a week`,
      })),
      ...(totals.endWeek > 0
        ? [
            {
              what: 'Last week with work',
              sum: String(totals.endWeek),
              limit: totals.deadlines.map(({ demand, week }) => `${week} (${demand})`).join(', '),
            },
          ]
        : []),
    ],
    schedule: schedule.length > 0 ? drawSchedule(schedule) : '',
    effort: table.rows.map(({ owner, hours, total }) => ({
      person: owner,
      ...Object.fromEntries(table.weeks.map((week, at) => [`week_${week}`, hours[at] || ''])),
      total,
    })),
  };
}
