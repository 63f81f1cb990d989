import { addDays } from '../text/day.ts';
import { ownerKey } from './owners.ts';
import { count } from './problem.ts';
import type { ScheduledItem } from './schedule.ts';

/** A Monday that begins its year, so that Mermaid's week of the year is the week of the plan. */
const WEEK_ONE = '2001-01-01';

/**
 * The schedule as a Mermaid gantt, a section for each owner and a bar of whole weeks for each item.
 * With the Monday of week 1 (YYYY-MM-DD) the axis shows dates, else numbers of weeks.
 */
export function drawSchedule(schedule: readonly ScheduledItem[], startDate?: string): string {
  const sections = new Map<string, { readonly name: string; readonly items: ScheduledItem[] }>();
  for (const item of schedule) {
    const key = item.owners.map(ownerKey).toSorted().join(' + ');
    const name = item.owners.join(' + ') || 'No owner';
    const section = sections.get(key) ?? { name, items: [] };
    section.items.push(item);
    sections.set(key, section);
  }
  const lines = [
    'gantt',
    '  dateFormat YYYY-MM-DD',
    `  axisFormat ${startDate === undefined ? 'week %W' : '%d %b'}`,
    '  tickInterval 1week',
    '  weekday monday',
    '  todayMarker off',
  ];
  let number = 0;
  for (const { name, items } of sections.values()) {
    lines.push(`  section ${escape(name)}`);
    for (const item of items) {
      number += 1;
      const from = addDays(startDate ?? WEEK_ONE, 7 * (item.startWeek - 1));
      const days = (item.endWeek - item.startWeek + 1) * 7;
      const high = item.effort === null ? '' : `, ${count(item.effort.high, 'hour')}`;
      const label = escape(`${item.id} ${item.title}`.slice(0, 80) + high);
      lines.push(`    ${label} :t${number}, ${from}, ${days}d`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Words that begin a statement of their own; a bar's name must not begin with one. */
const STATEMENT = new RegExp(
  `^(?:${[
    'gantt|title|section|click|call|href|dateFormat|axisFormat|tickInterval|weekday|weekend',
    'includes|excludes|todayMarker|inclusiveEndDates|topAxis|acc[DT]|[0-9]{4}-[0-9]{2}-[0-9]{2}',
  ].join('|')})`,
  'i',
);

/** Mermaid ends a name at a colon, semicolon or hash, and takes a percent sign for a comment. */
function escape(name: string): string {
  const plain = name
    .replaceAll(/(?:(?<!\s)\s+)?[:;]\s*/g, ', ')
    .replaceAll('%', ' percent')
    .replaceAll(/[#<>{}`\\]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return STATEMENT.test(plain) ? `– ${plain}` : plain || '–';
}
