import type { CheckResult } from './check-plan.ts';
import { describeCalendar } from './describe-calendar.ts';
import { drawSchedule } from './draw-schedule.ts';
import { formatNumber } from './problem.ts';

/** What a check found, as the sections of a document: problems, totals, schedule. */
export function describeChecks(result: CheckResult): Record<string, unknown> {
  const { problems, schedule, totals, calendar } = result;
  return {
    problems: problems.map(({ message }) => message),
    ...describeCalendar(result),
    totals: [
      ...totals.costs.map(({ demand, amount, limit, currency }) => ({
        what: `Money (${demand})`,
        sum: `${formatNumber(amount)} ${currency}`.trim(),
        limit: `${formatNumber(limit)} ${currency}`.trim(),
      })),
      ...totals.effort
        .filter(({ high }) => high > 0)
        .map(({ name, low, high, hoursPerWeek }) => ({
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
    schedule: schedule.length > 0 ? drawSchedule(schedule, calendar?.weekOne) : '',
  };
}
