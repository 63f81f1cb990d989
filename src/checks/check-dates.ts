import { addDays, type Day, sayDay } from '../text/day.ts';
import { type Calendar, endOfDay, weekEnd, weekOf } from './calendar.ts';
import { type Deadline, findCounted } from './check-weeks.ts';
import { compareIds, idKey } from './ids.ts';
import type { Plan } from './plan.ts';
import { EPSILON, joinWords, type Problem, quote } from './problem.ts';
import type { Placed } from './schedule.ts';
import type { Gate } from './types.ts';

/** A promise of fewer weeks leaves no whole week to spare. */
const LEAST_PROMISE = 4;

/** What a plan's days break: its start, the day on which it opens, its gates and its promised end. */
export function checkDates(
  plan: Plan,
  shared: readonly Placed[],
  deadlines: readonly Deadline[],
): Problem[] {
  const { calendar } = plan;
  if (calendar === null) return [];
  return [
    ...checkStart(plan, calendar),
    ...checkOpening(plan, calendar),
    ...checkGates(plan, calendar, shared),
    ...checkSpare(plan, calendar, shared, deadlines),
  ];
}

const incomplete = (subject: string, message: string): Problem => ({
  code: 'calendar_incomplete',
  subject,
  message,
  details: {},
});

/**
 * A plan with a place for a calendar and none in it, or one with days that cannot be read. Sessions
 * of earlier releases know no date, and their plans need no calendar.
 */
export function checkCalendar({ input }: Plan): Problem[] {
  const { calendar, keepsCalendar = false, today } = input;
  if (!calendar) {
    const message =
      'The plan has no calendar: give the country, the Monday of week 1 and the day on which it opens, so that its weeks become dates.';
    return keepsCalendar && today ? [incomplete('calendar', message)] : [];
  }
  return Object.entries(calendar.unread).map(([field, text]) =>
    incomplete(
      field,
      `The calendar gives no day for ${field} (says ${quote(text, 40)}): write it as 2027-01-04.`,
    ),
  );
}

function checkStart({ input: { today } }: Plan, { start }: Calendar): Problem[] {
  if (!today || start >= today) return [];
  return [
    {
      code: 'start_in_past',
      subject: 'start',
      message: `The work begins on ${sayDay(start)}, before today, ${sayDay(today)}. Begin later, and move what follows.`,
      details: { start, today },
    },
  ];
}

/** A day that the request names is taken as it is. */
const isAsked = ({ input }: Plan, day: Day): boolean =>
  input.demands.some((demand) => demand.day === day);

function checkOpening(plan: Plan, calendar: Calendar): Problem[] {
  const { opening } = calendar.record;
  if (opening === null || isAsked(plan, opening)) return [];
  const free = checkWorking(calendar, 'opening', 'It opens', opening);
  const next = addDays(opening, 1);
  if (free.length > 0 || calendar.isWorkingDay(next)) return free;
  const holiday = calendar.holidayOn(next);
  const why = holiday === undefined ? 'nobody works on the day after' : `${holiday} follows`;
  return [
    {
      code: 'opening_before_break',
      subject: 'opening',
      message: `It opens on ${sayDay(opening)}, and ${why}: what fails first waits for days. Open at the beginning of a week.`,
      details: { opening },
    },
  ];
}

function checkWorking(calendar: Calendar, subject: string, what: string, day: Day): Problem[] {
  if (calendar.isWorkingDay(day)) return [];
  const holiday = calendar.holidayOn(day);
  const why = holiday === undefined ? 'on which nobody works' : `a public holiday (${holiday})`;
  return [
    {
      code: 'day_not_working',
      subject,
      message: `${what} on ${sayDay(day)}, ${why}. Take a working day.`,
      details: { day, holiday: holiday ?? null },
    },
  ];
}

/** The day of a gate: the one that it names, else the last day of work of its week. */
export const dayOfGate = (calendar: Calendar, { day, week }: Gate): Day | null =>
  day ?? (week === null ? null : weekEnd(calendar, week));

function checkGates(plan: Plan, calendar: Calendar, shared: readonly Placed[]): Problem[] {
  const gates = (plan.input.gates ?? []).map((gate, at) => ({
    subject: `gate ${at + 1}`,
    what: `The gate ${quote(gate.when, 60)}`,
    day: dayOfGate(calendar, gate),
    evidence: gate.evidence,
  }));
  const { opening, openingNeeds } = calendar.record;
  const start = { subject: 'opening', what: 'The opening', day: opening, evidence: openingNeeds };
  return [
    ...gates.flatMap(({ subject, what, day }) =>
      day === null || isAsked(plan, day) ? [] : checkWorking(calendar, subject, `${what} is`, day),
    ),
    ...[...gates, start].flatMap((one) => checkEvidence(plan, calendar, shared, one)),
  ];
}

type Judged = {
  readonly subject: string;
  readonly what: string;
  readonly day: Day | null;
  readonly evidence: readonly string[];
};

/** What a gate judges must have ended on its day, and what opens must have been made. */
function checkEvidence(
  plan: Plan,
  calendar: Calendar,
  shared: readonly Placed[],
  { subject, what, day, evidence }: Judged,
): Problem[] {
  const wanted = new Set(evidence.map(idKey));
  const found = shared.filter(({ id }) => wanted.has(idKey(id)));
  const unknown = evidence.filter((id) => !shared.some((item) => idKey(item.id) === idKey(id)));
  const missing: Problem[] =
    unknown.length === 0 || plan.items.length === 0
      ? []
      : [
          {
            code: 'need_unknown',
            subject,
            message: `${what} needs ${joinWords(unknown)}, which no work item is. Name the right one.`,
            details: { needs: unknown },
          },
        ];
  if (day === null) return missing;
  const at = endOfDay(calendar, day);
  const late = found.filter(({ end }) => end > at + EPSILON);
  if (late.length === 0) return missing;
  const ids = late.map(({ id }) => id).toSorted(compareIds);
  const last = Math.max(...late.map(({ endWeek }) => endWeek));
  const problem: Problem = {
    code: 'gate_before_evidence',
    subject,
    message: `${what} is on ${sayDay(day)}, in week ${weekOf(calendar, day)}, but ${joinWords(ids)} ${ids.length === 1 ? 'ends' : 'end'} in week ${last} at the high estimates (${sayDay(weekEnd(calendar, last))}). Move it, or what it waits for.`,
    details: { day, items: ids, week: last },
  };
  return [...missing, problem];
}

/** At least one whole week lies between the last work, or the opening, and a promised end. */
function checkSpare(
  plan: Plan,
  calendar: Calendar,
  shared: readonly Placed[],
  deadlines: readonly Deadline[],
): Problem[] {
  const { promised, opening } = calendar.record;
  const stated = promised === null ? deadlines : [{ demand: '', week: weekOf(calendar, promised) }];
  const opened = opening === null ? 0 : weekOf(calendar, opening);
  return stated.flatMap((promise): Problem[] => {
    const counted = promise.demand === '' ? findNeeded(plan, promise) : findCounted(plan, promise);
    const ends = shared.filter(({ key }) => counted.has(key)).map(({ endWeek }) => endWeek);
    const work = Math.max(0, ...ends);
    const end = Math.max(work, opened);
    if (promise.week < LEAST_PROMISE || end < promise.week) return [];
    const what = work >= opened ? `The work ends in week ${work}` : `It opens in week ${opened}`;
    const by = promise.demand || 'the promised end';
    const day = sayDay(
      promise.demand === '' && promised ? promised : weekEnd(calendar, promise.week),
    );
    return [
      {
        code: 'no_spare_week',
        subject: promise.demand || 'promised',
        message: `${what}, and ${by} is in week ${promise.week} (${day}): no week is left for what takes longer. Leave at least one, or say what goes first.`,
        details: { end, promised: promise.week },
      },
    ];
  });
}

/** What the opening needs, with all that this needs; where it names nothing, what begins by then. */
function findNeeded(plan: Plan, { week }: Deadline): ReadonlySet<string> {
  const named = new Set(plan.calendar?.record.openingNeeds.map(idKey));
  const needed = new Set(plan.items.filter(({ id }) => named.has(idKey(id))).map(({ key }) => key));
  for (const key of needed) {
    for (const need of plan.byKey.get(key)?.waitsFor ?? []) needed.add(need);
  }
  if (needed.size > 0) return needed;
  return new Set(plan.items.filter((one) => (one.earliestWeek ?? 1) <= week).map(({ key }) => key));
}
