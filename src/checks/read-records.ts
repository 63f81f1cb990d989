import type { RecordKind } from '../recipe/types.ts';
import type { RawRecord } from './collect-records.ts';
import { readIds } from './ids.ts';
import { splitOwners } from './owners.ts';
import { readDayRanges } from './read-days.ts';
import { readCalendar, readGate, readMilestone, readPrice } from './read-frame.ts';
import { readDecision, readFigure, readFinding } from './read-ledger.ts';
import {
  readAmount,
  readPer,
  readText,
  readUnit,
  readWeek,
  saysNothing,
  toHours,
} from './read-values.ts';
import type { Cost, Demand, Effort, Person, WorkItem } from './types.ts';

const MEASURES = ['money', 'effort', 'time', 'date', 'place', 'other'] as const;

/** A demand or limit; what a model left out is told by its amount and unit where they can tell. */
function readDemand(raw: RawRecord): Demand {
  const amount = readAmount(raw['amount']);
  const unit = readUnit(readText(raw['unit'])) || amount?.unit || readText(raw['unit']);
  const measure =
    MEASURES.find((one) => one === readText(raw['measure']).toLowerCase()) ?? guessMeasure(unit);
  const text = readText(raw['text']);
  const quote = readText(raw['quote']);
  const kind = readText(raw['kind']).toLowerCase();
  const limits = measure === 'money' || measure === 'effort';
  return {
    id: readText(raw['id']),
    text,
    kind: kind === 'limit' || (kind !== 'demand' && limits && amount !== null) ? 'limit' : 'demand',
    measure,
    amount: amount?.high ?? null,
    unit,
    per: readPer(readText(raw['per'])) || readPer(readPeriod(raw['amount'], raw['unit'])),
    who: readText(raw['who']),
    quote,
    day: /\d{4}-\d{2}-\d{2}/.exec([readText(raw['amount']), text, quote].join(' '))?.[0] ?? null,
  };
}

function guessMeasure(unit: string): Demand['measure'] {
  return /^[A-Z]{3}$/.test(unit) ? 'money' : 'other';
}

/** What stands behind `per` or `/` in an amount, such as the month of `€20/month`. */
const readPeriod = (...values: readonly unknown[]): string =>
  values
    .map((value) => /(?:\/|\bper\b|\ba\b|\beach\b|\b\w+ly\b)[^]*/i.exec(readText(value))?.[0])
    .join(' ');

/** A person or group of people with the hours that they have. */
function readPerson(raw: RawRecord): Person {
  const hours = readAmount(raw['hours_per_week']);
  return {
    name: readText(raw['name']),
    hoursPerWeek: hours === null ? null : toHours(hours).high,
    fromWeek: readWeek(raw['from_week']),
    toWeek: readWeek(raw['to_week']),
    daysOff: readDayRanges(raw['days_off']),
    pay: readAmount(raw['pay_per_hour'])?.high ?? null,
  };
}

/** A work item; fields that hold something unreadable are null and stand in `unread`. */
export function readWorkItem(raw: RawRecord): WorkItem {
  const effort = readEffort(raw);
  const earliestWeek = readWeek(raw['earliest_week']);
  const costText = readText(raw['cost']);
  const cost =
    costText !== '' && saysNothing(costText) ? 0 : (readAmount(raw['cost'])?.high ?? null);
  const effortText = readText([raw['effort_low'], raw['effort_high'], raw['effort']]);
  const unread: [string, string][] = [
    ['effort', effort === null ? effortText : ''],
    ['earliest_week', earliestWeek === null ? readText(raw['earliest_week']) : ''],
    ['cost', cost === null ? costText : ''],
  ];
  return {
    id: readText(raw['id']),
    title: readText(raw['title']),
    owners: splitOwners(readText(raw['owner'])),
    effort,
    earliestWeek,
    cost,
    needs: readIds(raw['needs']),
    demands: readIds(raw['demands']),
    findings: readIds(raw['findings']),
    doneWhen: readText(raw['done_when']),
    unread: Object.fromEntries(unread.filter(([, text]) => text !== '')),
  };
}

/** Hours, from two fields, from one that holds a range, or from `effort`. */
function readEffort(raw: RawRecord): Effort | null {
  const unit = readUnit(readText(raw['effort_unit'] ?? raw['unit'])) || 'hours';
  const both = [raw['effort_low'], raw['effort_high'], raw['effort']]
    .map(readAmount)
    .filter((amount) => amount !== null)
    .map((amount) => toHours(amount, unit));
  if (both.length === 0) return null;
  return {
    low: Math.min(...both.map(({ low }) => low)),
    high: Math.max(...both.map(({ high }) => high)),
  };
}

/** One row of a cost table; a row that names no period falls due once. */
function readCost(raw: RawRecord): Cost {
  const amount = readAmount(raw['amount']);
  const stated = readPer(readText(raw['period'])) || readPer(readPeriod(raw['amount']));
  const text = readText(raw['amount']);
  return {
    item: readText(raw['item']),
    amount: text !== '' && saysNothing(text) ? 0 : (amount?.high ?? null),
    currency:
      readUnit(readText(raw['currency'])) || readText(raw['currency']) || (amount?.unit ?? ''),
    period: stated === 'month' || stated === 'year' ? stated : 'once',
    months: readAmount(raw['months'])?.high ?? null,
  };
}

type Records = {
  readonly demands: Demand;
  readonly people: Person;
  readonly work_items: WorkItem;
  readonly costs: Cost;
  readonly findings: ReturnType<typeof readFinding>;
  readonly decisions: ReturnType<typeof readDecision>;
  readonly figures: ReturnType<typeof readFigure>;
  readonly calendar: ReturnType<typeof readCalendar>;
  readonly milestones: ReturnType<typeof readMilestone>;
  readonly gates: ReturnType<typeof readGate>;
  readonly prices: ReturnType<typeof readPrice>;
};

/** How a raw record of each kind becomes a typed one; none of them throws. */
export const RECORD_READERS: { readonly [K in RecordKind]: (raw: RawRecord) => Records[K] } = {
  demands: readDemand,
  people: readPerson,
  work_items: readWorkItem,
  costs: readCost,
  findings: readFinding,
  decisions: readDecision,
  figures: readFigure,
  calendar: readCalendar,
  milestones: readMilestone,
  gates: readGate,
  prices: readPrice,
};
