import type { ContractNode } from '../recipe/types.ts';
import { addDays, type Day } from '../text/day.ts';
import { isRecord } from '../text/is-record.ts';
import { type Calendar, weekStart } from './calendar.ts';
import { dayOfGate } from './check-dates.ts';
import { printNames } from './names.ts';
import { preparePlan } from './plan.ts';
import { createPrinter } from './print-value.ts';
import { readDay } from './read-days.ts';
import { readGate, readWeeks } from './read-frame.ts';
import { readText } from './read-values.ts';
import { scheduleItems } from './schedule.ts';
import type { CheckInput } from './types.ts';
import { computeValues } from './values.ts';

type Content = Readonly<Record<string, unknown>>;

/** A document as it is handed over: values in place of their names, and dates beside weeks. */
export function printDocument(
  contract: ContractNode,
  content: Content,
  input: CheckInput,
): Content {
  const plan = preparePlan(input);
  const values = computeValues(plan, scheduleItems(plan, true));
  const printed = printNames(content, values.find);
  return plan.calendar === null ? printed : (addDates(contract, printed, plan.calendar) as Content);
}

function addDates(node: ContractNode, value: unknown, calendar: Calendar): unknown {
  if (Array.isArray(value)) return value.map((one) => addDates(node, one, calendar));
  const { properties } = node.items ?? node;
  if (!isRecord(value) || properties === undefined) return value;
  const inner = Object.entries(value).map(([key, field]): [string, unknown] => {
    const child = properties[key];
    return [key, child === undefined ? field : addDates(child, field, calendar)];
  });
  return { ...Object.fromEntries(inner), ...datesOf(node['x-records'], value, calendar) };
}

/** The fields of a record that say when, in words; with dates where they name none. */
function datesOf(kind: ContractNode['x-records'], record: Content, calendar: Calendar): Content {
  const { language } = calendar.record;
  const printer = createPrinter(language);
  /** In words, where those are read back as the same day. */
  const say = (day: Day): string => {
    const said = printer.day(day);
    return readDay(said, language) === day ? said : day;
  };
  if (kind === 'milestones') {
    const text = readText(record['weeks']);
    const weeks = readWeeks(text);
    // Seven digits or more, or a word behind the weeks: the writer has given dates already.
    if (weeks === null || !/^[^\d]*\d+(?:\D{0,12}\d+)?\D{0,3}$/.test(text)) return {};
    const [from, to] = [
      weekStart(calendar, weeks.from),
      addDays(weekStart(calendar, weeks.to), calendar.span),
    ];
    return { weeks: `${text} (${printer.days(from, to)})` };
  }
  if (kind === 'calendar') {
    const { opening, promised } = calendar.record;
    const days = Object.entries({ start: calendar.start, opening, promised });
    return Object.fromEntries(
      days.flatMap(([field, day]) => (day === null ? [] : [[field, say(day)]])),
    );
  }
  if (kind !== 'gates') return {};
  const gate = readGate(record);
  const day = dayOfGate(calendar, gate);
  if (day === null) return {};
  const said = say(day);
  if (gate.day === null) return { when: `${gate.when} (${said})` };
  return { when: gate.when.replaceAll(/\b\d{4}-\d{2}-\d{2}\b/g, said) };
}
