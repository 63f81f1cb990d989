import { addDays, type Day, sayDay } from '../text/day.ts';
import { type Calendar, weekEnd, weekOf, weekStart } from './calendar.ts';
import { dayOfGate } from './check-dates.ts';
import type { Plan } from './plan.ts';
import { type Problem, quote } from './problem.ts';
import { type FoundDay, findDays, isOtherWeekday } from './read-days.ts';
import type { Passage } from './types.ts';
import { anyWord } from './words.ts';

/** Between a week and the day that says when it is. */
const JOINED = /^[\s(,:–—-]*(?:(?:from|on|of|begins|starts|ends|is|the|week|ab|vom|am)\s+)*$/i;
const WEEKS = new RegExp(
  String.raw`(?<!\p{L})(?:week|woche|wk)s?\.?\s?(\d{1,3})` +
    String.raw`(?:\s?(?:-|–|to|bis)\s?(?:week\s)?(\d{1,3}))?(?![\d.,]?\d|\s?hours)`,
  'giu',
);
/** What is said of the day on which it opens. */
const OPENING = anyWord(
  'launch(?:es|ed|ing)?, go(?:es)? live, opens? (?:to|for|on), opening (?:day|is|on)',
  'eröffn\\p{L}*, geht live',
);
const WHAT_IF = anyWord('if, unless, would, otherwise, instead, wenn, falls, würde, statt');
/** What opens before the opening. */
const TRIAL = anyWord(
  'trials?, pilots?, beta, tests?, circles?, rehearsals?, drills?, registration, probe\\p{L}*',
);
const OPENS_SOON = 60;

/** Days that a document types: beside another week, behind another weekday, or for the opening. */
export function checkTypedDates(plan: Plan): Problem[] {
  const { calendar, input } = plan;
  if (calendar === null) return [];
  const known = listKnownDays(plan, calendar);
  return input.documents.flatMap(({ title, prose = [] }) =>
    prose.flatMap((passage) => {
      const near = addDays(input.today ?? calendar.start, -31);
      const days = findDays(passage.text, near, calendar.record.language);
      if (days.length === 0) return [];
      return [
        ...findWrongWeekdays(passage, days),
        ...findWrongWeeks(passage, days, calendar),
        ...findOtherOpening(passage, days, calendar, known),
      ].map(
        ({ text, message, details }): Problem => ({
          code: 'date_mismatch',
          subject: title,
          message: `${title} says ${quote(text, 80)}: ${message}`,
          details: { ...details, document: title, section: passage.section },
        }),
      );
    }),
  );
}

type Mismatch = { readonly text: string; readonly message: string; readonly details: object };

const findWrongWeekdays = ({ text }: Passage, days: readonly FoundDay[]): Mismatch[] =>
  days.filter(isOtherWeekday).map(({ day, at, end }) => ({
    text: text.slice(Math.max(0, at - 12), end).replace(/^\S*\s/, ''),
    message: `that day is ${sayDay(day)}.`,
    details: { day },
  }));

function findWrongWeeks(
  { section, text }: Passage,
  days: readonly FoundDay[],
  calendar: Calendar,
): Mismatch[] {
  const spans = [...text.matchAll(WEEKS)].map(({ 0: { length }, 1: first, 2: last, index }) => ({
    from: Number(first),
    to: Number(last ?? first),
    at: index,
    end: index + length,
  }));
  return spans.flatMap(({ from, to, at, end }) => {
    const found = days.find((day) => day.at >= end && JOINED.test(stripWeekday(text, end, day)));
    if (found === undefined) return [];
    const week = weekOf(calendar, found.day);
    if (week >= from && week <= to) return [];
    const monday = sayDay(weekStart(calendar, from));
    return [
      {
        text: text.slice(at, found.end),
        message: `week ${from} begins on ${monday}, and ${sayDay(found.day)} is in week ${week}.`,
        details: { week: from, day: found.day, section },
      },
    ];
  });
}

/** What stands between a week and a day, without the day's weekday. */
const stripWeekday = (text: string, end: number, { at, weekday }: FoundDay): string => {
  const between = text.slice(end, at);
  return weekday === null
    ? between
    : between.replace(/(?<!\p{L})\p{L}{1,20}\.?,?\s(?:(?:the|den)\s)?$/u, '');
};

/** Days that the plan itself has, so that a text may name them. */
function listKnownDays({ input }: Plan, calendar: Calendar): ReadonlySet<Day> {
  const { record, start } = calendar;
  const gates = (input.gates ?? []).map((gate) => dayOfGate(calendar, gate));
  const asked = input.demands.map(({ day }) => day);
  const phases = (input.milestones ?? []).flatMap(({ fromWeek, toWeek }) => [
    weekStart(calendar, fromWeek),
    weekEnd(calendar, toWeek),
  ]);
  const own = [start, record.opening, record.promised, input.today];
  const days = [...own, ...gates, ...asked, ...phases];
  return new Set(days.filter((day) => day !== null && day !== undefined));
}

/** Another day for the opening than the plan's own. */
function findOtherOpening(
  { text, isConditional }: Passage,
  days: readonly FoundDay[],
  { record: { opening } }: Calendar,
  known: ReadonlySet<Day>,
): Mismatch[] {
  if (opening === null || isConditional) return [];
  return splitSentences(text).flatMap(({ text: sentence, at }) => {
    const said = OPENING.exec(sentence);
    const own = days.filter((day) => day.at >= at && day.end <= at + sentence.length);
    const [day] = own;
    if (said === null || own.length !== 1 || day === undefined || known.has(day.day)) return [];
    const distance = day.at - at - said.index - said[0].length;
    if (distance < 0 || distance > OPENS_SOON) return [];
    if (WHAT_IF.test(sentence) || TRIAL.test(sentence)) return [];
    const message = `the plan opens on ${sayDay(opening)}.`;
    return [{ text: sentence, message, details: { day: day.day, opening } }];
  });
}

/** Sentences with their places; an ordinal such as `3.` ends none. */
export function splitSentences(text: string): { readonly text: string; readonly at: number }[] {
  const ends = [...text.matchAll(/(?<!\d)[.!?](?=\s)|\n+/g)].map(
    ({ index, 0: mark }) => index + mark.length,
  );
  const bounds = [0, ...ends, text.length];
  return bounds.slice(1).flatMap((end, at) => {
    const from = bounds[at] ?? 0;
    return end > from ? [{ text: text.slice(from, end), at: from }] : [];
  });
}
