import type { RawRecord } from './collect-records.ts';
import { readIds } from './ids.ts';
import { readDay } from './read-days.ts';
import { readAmount, readPer, readText, readUnit, readWeek } from './read-values.ts';
import type { CalendarRecord, Gate, Milestone, Price } from './types.ts';

/** The frame of a plan's days. */
export function readCalendar(raw: RawRecord): CalendarRecord {
  const language = readText(raw['language']) || 'en';
  const days = (['start', 'opening', 'promised'] as const).map(
    (field) => [field, readText(raw[field]), readDay(raw[field], language)] as const,
  );
  const dayOf = (wanted: string) => days.find(([field]) => field === wanted)?.[2] ?? null;
  const free = readAmount(raw['free_percent'])?.high ?? null;
  return {
    country: readText(raw['country']),
    language,
    start: dayOf('start'),
    opening: dayOf('opening'),
    openingNeeds: readIds(raw['opening_needs']),
    promised: dayOf('promised'),
    free: free === null || free < 0 || free >= 100 ? null : free / 100,
    unread: Object.fromEntries(
      days
        .filter(([, text, day]) => text !== '' && day === null && !isNoDay(text))
        .map(([field, text]) => [field, text]),
    ),
  };
}

/** "none", "not promised": an answer, not a slip. */
const isNoDay = (text: string): boolean => !/\d/.test(text);

/** `weeks` holds one week or two with a dash between them; null where it holds none. */
export function readWeeks(value: unknown): { readonly from: number; readonly to: number } | null {
  const text = readText(value);
  const days = /\d{4}-\d{2}-\d{2}|\(/.exec(text);
  const span = days ? text.slice(0, days.index) : text;
  const [first, last] = [...span.matchAll(/\d+/g)].map(([number]) => Number(number));
  const from = readWeek(first === undefined ? '' : span);
  if (first === undefined || from === null) return null;
  return { from, to: Math.max(from, last ?? from) };
}

export function readMilestone(raw: RawRecord): Milestone | null {
  const weeks = readWeeks(raw['weeks']);
  return weeks && { title: readText(raw['title']), fromWeek: weeks.from, toWeek: weeks.to };
}

const WEEK_WORD = /(?:week|woche|semaine|semana|settimana|\bw)\s*\.?\s*(\d+)/i;

export function readGate(raw: RawRecord): Gate {
  const when = readText(raw['when']);
  const week = WEEK_WORD.exec(when)?.[1];
  return {
    when,
    day: readDay(raw['day']) ?? readDay(when),
    week: week === undefined ? null : Math.max(1, Number(week)),
    evidence: readIds(raw['evidence']),
  };
}

export function readPrice(raw: RawRecord): Price {
  const price = readAmount(raw['price']);
  const currency = readText(raw['currency']);
  const stated = readPer(readText(raw['period'])) || readPer(readText(raw['price']));
  return {
    item: readText(raw['item']),
    price: price?.high ?? null,
    unitCost: readAmount(raw['unit_cost'])?.high ?? null,
    currency: readUnit(currency) || currency || (price?.unit ?? ''),
    period: stated === 'month' || stated === 'year' ? stated : 'once',
  };
}
