import { addDays, type Day, sayDay } from '../text/day.ts';
import { type Calendar, weekStart } from './calendar.ts';
import { dayOfGate } from './check-dates.ts';
import type { CheckResult } from './check-plan.ts';
import { createPrinter } from './print-value.ts';
import { formatNumber, quote } from './problem.ts';

type Row = Readonly<Record<string, string>>;

/** More weeks than a reader goes through. */
const MOST_WEEKS = 80;

/** What a plan's weeks, people and records come to, as sections of a document. */
export function describeCalendar(result: CheckResult): Record<string, unknown> {
  const { calendar, values } = result;
  return {
    calendar: calendar === null ? '' : introduce(calendar),
    weeks: calendar === null ? [] : listWeeks(calendar, result),
    phases: result.phases.map(({ name, phase, hours, asked }): Row => {
      const free = hours === 0 ? 0 : 1 - asked / hours;
      return {
        who: name,
        weeks: phase.from === phase.to ? `${phase.from}` : `${phase.from} to ${phase.to}`,
        hours: formatNumber(Math.round(hours * 10) / 10),
        asked: formatNumber(Math.round(asked * 10) / 10),
        free: `${formatNumber(Math.round(free * 100))} % (at least ${formatNumber(Math.round(result.free * 100))} %)`,
      };
    }),
    values: values.list.map(({ name, text, what }): Row => ({ name, value: text, what })),
  };
}

function introduce({ record, start, weekOne, country }: Calendar): string {
  const begin =
    start === weekOne
      ? `Week 1 begins on ${sayDay(weekOne)}.`
      : `Work begins on ${sayDay(start)}; week 1 is counted from ${sayDay(weekOne)}.`;
  if (country !== null) return `${begin} Public holidays of ${country} are left out.`;
  const none =
    record.country === ''
      ? 'The plan names no country'
      : `${quote(record.country, 40)} is no country of the table`;
  return `${begin} ${none}: no public holidays are known, and none are left out.`;
}

function listWeeks(
  calendar: Calendar,
  { milestones, gates, schedule, totals }: CheckResult,
): Row[] {
  const { opening, promised } = calendar.record;
  const ends = milestones.map(({ toWeek }) => toWeek);
  const last = Math.min(MOST_WEEKS, Math.max(0, totals.endWeek, ...ends));
  const print = createPrinter(calendar.record.language);
  const marks: [Day | null, string][] = [
    ...gates.map((gate, at): [Day | null, string] => [dayOfGate(calendar, gate), `gate ${at + 1}`]),
    [opening, 'opening'],
    [promised, 'promised end'],
  ];
  return Array.from({ length: last }, (_, at) => at + 1).map((week) => {
    const [first, end] = [weekStart(calendar, week), weekStart(calendar, week + 1)];
    const days = marks.flatMap(([day, name]) =>
      day !== null && day >= first && day < end ? [`${name}, ${sayDay(day).split(',')[0]}`] : [],
    );
    const begun = milestones.filter(({ fromWeek }) => fromWeek === week).map(({ title }) => title);
    const work = calendar.workingDays(week).length;
    return {
      week: `${week}`,
      dates: print.days(first, addDays(first, calendar.span)),
      working_days: `${work}`,
      items: schedule
        .filter(({ startWeek }) => startWeek === week)
        .map(({ id }) => id)
        .join(', '),
      marks: [...begun, ...days].join('; '),
    };
  });
}
