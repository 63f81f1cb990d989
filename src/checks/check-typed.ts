import { freeShare } from './check-free.ts';
import { splitSentences } from './check-typed-dates.ts';
import { matchOwner, ownerKey } from './owners.ts';
import type { Plan } from './plan.ts';
import { formatNumber, joinWords, type Problem, quote } from './problem.ts';
import { toHours } from './read-values.ts';
import type { Placed } from './schedule.ts';
import { sumCosts } from './sum-costs.ts';
import { sumEffort } from './sum-effort.ts';
import { type Amount, findAmounts } from './typed-amounts.ts';
import type { Passage } from './types.ts';
import { sumAvailable, type Values } from './values.ts';
import { anyWord } from './words.ts';

const SUMS =
  'in all, in total, totals?, altogether, overall, insgesamt, zusammen, gesamt\\p{L}*, summe';
/** Words that make an amount of money one of the whole plan: parts of it are told by others, too. */
const WHOLE_MONEY = anyWord(SUMS);
/** Those for hours, of which only items and people have parts. */
const WHOLE_HOURS = anyWord(
  SUMS,
  'all (?:the )?(?:work|items), sums? (?:of|to|up), adds? up, comes? to, amounts? to, effort',
  'estimates?, estimated, planned, plans, work items, geschätzt, geplant, aufwand',
);
/** Sentences that speak of something else than what the plan takes. */
const OTHER = anyWord(
  'if, unless, would, otherwise, instead, rather than, saves?, saved, earns?, revenue, income',
  'sales, turnover, paid, pays?, bought, bezahlt, within, notice, response, downtime, retention, fines?, salary',
  'wenn, falls, würde, statt, umsatz, einnahmen, innerhalb, frist',
);
/** Sentences about a part of the plan, of which code knows no sum. */
const PART_OF_PLAN = anyWord(
  'milestones?, phases?, modules?, trial, pilot, remaining, rest, first, second, third, last',
  'in weeks? \\d+, until week, by week, until the gate, meilenstein\\p{L}*, erste\\p{L}?, übrig\\p{L}*',
);
/** "120 hours at 80 euros" are bought, not planned. */
const PRICED = /^\s(?:at|à|zu)\s/i;
/** A figure of the whole is near it: what is far away is something else. */
const NEAREST = 0.5;
const FARTHEST = 4;
/** What writers round. */
const ROUNDING = 0.01;

/** Figures that a document types although they follow from records, and that say something else. */
export function checkTyped(plan: Plan, values: Values, shared: readonly Placed[]): Problem[] {
  const facts = gatherFacts(plan, values, shared);
  return plan.input.documents.flatMap(({ title, prose = [] }) =>
    prose
      .filter(({ isConditional }) => !isConditional)
      .flatMap((passage) =>
        splitSentences(passage.text)
          .flatMap(({ text }) => [
            ...checkTotals(facts, text),
            ...checkPeople(facts, text),
            ...checkShares(text),
            ...checkCommitted(facts, text),
          ])
          .map((fault) => toProblem(title, passage, fault)),
      ),
  );
}

type Fault = {
  readonly code: Problem['code'];
  readonly text: string;
  readonly message: string;
};

const toProblem = (title: string, { section }: Passage, fault: Fault): Problem => ({
  code: fault.code,
  subject: title,
  message: `${title} says ${quote(fault.text.trim(), 140)}: ${fault.message}`,
  details: { document: title, section },
});

/** What typed figures are compared with. */
type Facts = {
  readonly hours: { readonly low: number; readonly high: number } | null;
  readonly money: { readonly total: number; readonly currency: string } | null;
  /** Every figure of the kind that the records hold or come to. */
  readonly known: { readonly hours: readonly number[]; readonly money: readonly number[] };
  readonly people: readonly PersonFacts[];
  /** Shares of the hours available that are asked for, that stay free and that should; percent. */
  readonly shares: readonly number[];
};

type PersonFacts = {
  readonly name: string;
  readonly words: RegExp;
  readonly perWeek: readonly number[];
  /** What the work items ask of them. */
  readonly asked: { readonly low: number; readonly high: number };
};

function gatherFacts(plan: Plan, values: Values, shared: readonly Placed[]): Facts {
  const efforts = plan.items.flatMap(({ effort }) => (effort ? [effort.low, effort.high] : []));
  const low = values.find('hours.low')?.low;
  const high = values.find('hours.high')?.low;
  const sums = sumCosts(plan);
  const { demands, costs } = plan.input;
  const amounts = demands.flatMap(({ amount, unit }) =>
    amount === null ? [] : [amount, toHours({ low: amount, high: amount, unit }).high],
  );
  const ofKind = (kind: string): number[] =>
    values.list.filter((one) => one.kind === kind).flatMap((one) => [one.low, one.high]);
  const rows = costs.flatMap(({ amount, months, period }) =>
    amount === null ? [] : [amount, amount * (months ?? (period === 'month' ? 12 : 1))],
  );
  const available = sumAvailable(plan, shared);
  return {
    hours: low !== undefined && high !== undefined && high > 0 ? { low, high } : null,
    money: sums === null || sums.total === 0 ? null : sums,
    known: {
      hours: [...efforts, ...ofKind('hours'), ...amounts, available ?? 0],
      money: [
        ...rows,
        ...ofKind('money'),
        ...amounts,
        ...plan.items.flatMap(({ cost }) => cost ?? []),
      ],
    },
    people: gatherPeople(plan),
    shares: gatherShares(plan, values),
  };
}

function gatherShares(plan: Plan, values: Values): number[] {
  const planned = values.find('share.planned')?.low;
  if (planned === undefined) return [];
  return [planned, freeShare(plan)].flatMap((share) => [share * 100, (1 - share) * 100]);
}

function gatherPeople(plan: Plan): PersonFacts[] {
  const totals = new Map(sumEffort(plan).map((total) => [total.key, total]));
  return [...plan.capacities.values()].flatMap(({ key, name, limits }) => {
    const perWeek = limits.filter(({ weeks }) => weeks === 1).map(({ hours }) => hours);
    const word = ownerKey(name);
    if (perWeek.length === 0 || word === '') return [];
    const { low = 0, high = 0, hoursPerWeek } = totals.get(key) ?? {};
    const words = new RegExp(`(?<!\\p{L})${escape(word)}s?(?!\\p{L})`, 'iu');
    return [{ name, words, perWeek: [...perWeek, hoursPerWeek ?? 0], asked: { low, high } }];
  });
}

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= Math.max(1, ROUNDING * b);

/** Totals of hours and money. */
function checkTotals(facts: Facts, sentence: string): Fault[] {
  if (OTHER.test(sentence) || PART_OF_PLAN.test(sentence)) return [];
  const { money, known } = facts;
  const work = findWork(facts, sentence);
  return findAmounts(sentence).flatMap((amount): Fault[] => {
    if (amount.per !== '' || PRICED.test(amount.after)) return [];
    if (amount.unit === 'hours' && work !== null && WHOLE_HOURS.test(sentence)) {
      const told = `${formatNumber(work.low)} to ${formatNumber(work.high)} hours`;
      return compare(amount, work, known.hours, sentence, `${work.what} come to ${told}.`);
    }
    const isMoney = money !== null && amount.unit === money.currency;
    if (!isMoney || !WHOLE_MONEY.test(sentence)) return [];
    const told = `${formatNumber(money.total)} ${money.currency}`;
    const total = { low: money.total, high: money.total };
    return compare(amount, total, known.money, sentence, `the costs come to ${told}.`);
  });
}

/** What a sentence speaks of: the work of the one whom it names, or all; null for that of some. */
function findWork({ hours, people }: Facts, sentence: string) {
  const named = people.filter(({ words }) => words.test(sentence));
  const [one] = named;
  if (named.length === 1 && one && people.length > 1) {
    return one.asked.high > 0 ? { ...one.asked, what: `the work items of ${one.name}` } : null;
  }
  const isAll = named.length === 0 || named.length === people.length;
  return isAll && hours !== null ? { ...hours, what: 'the work items' } : null;
}

function compare(
  { low, high }: Amount,
  total: { readonly low: number; readonly high: number },
  known: readonly number[],
  text: string,
  message: string,
): Fault[] {
  if (high < total.low * NEAREST || low > total.high * FARTHEST) return [];
  const isKnown = (figure: number): boolean => known.some((one) => isNear(figure, one));
  if (isKnown(low) && isKnown(high)) return [];
  const excludes = low < high && (low > total.high + 1 || high < total.low - 1);
  return [{ code: excludes ? 'range_excludes_sum' : 'total_changed', text, message }];
}

const GIVES = anyWord('has, have, gives?, available, brings?, hat, haben, gibt, verfügbar');
/** A part of the week, for one of several things. */
const PART = /(?:week|woche)ly?\s(?:for|on|to|of|left|free|spare|für)(?!\p{L})/iu;

/** Hours that somebody has at another time. */
const LATER = anyWord('after, afterwards, later, then, once, nach, danach, später, dann');

/** Hours a week of one person: never more than the plan has, and not less where they are given. */
function checkPeople({ people }: Facts, sentence: string): Fault[] {
  if (OTHER.test(sentence)) return [];
  const named = people.filter(({ words }) => words.test(sentence));
  const [person] = named;
  if (named.length !== 1 || person === undefined) return [];
  return findAmounts(sentence)
    .filter(({ unit, per }) => unit === 'hours' && per === 'week')
    .filter(({ high }) => !person.perWeek.some((one) => Math.abs(one - high) < 0.01))
    .filter(
      ({ high, after }) =>
        high > Math.max(...person.perWeek) ||
        (GIVES.test(sentence) && !PART.test(after) && !LATER.test(sentence)),
    )
    .map(() => ({
      code: 'person_hours_changed' as const,
      text: sentence,
      message: `the plan has ${person.name} for ${formatNumber(person.perWeek[0] ?? 0)} hours a week.`,
    }));
}

const PERCENT = String.raw`(?<!\d)(\d{3,9}(?:[.,]\d{1,3})?)\s?(?:%|percent|per cent|prozent)`;
const WHOLES =
  'hours|time|people|customers?|users?|visitors?|members?|orders?|seats?|places?|capacity|team|' +
  'everybody|everyone|them|stunden|zeit|kunden|nutzer|plätze';
const OVER_WHOLE = new RegExp(
  String.raw`${PERCENT}\s(?:of|der|des|aller)\s(?:(?:all|the|our|their|every|available)\s){0,3}` +
    String.raw`(?:${WHOLES})(?!\p{L})`,
  'giu',
);
const SHARES = new RegExp(
  String.raw`(?<!\p{L})(?:share|proportion|conversion|occupancy|utili[sz]ation|anteil|auslastung)` +
    String.raw`(?!\p{L})[^.;]{0,40}?${PERCENT}`,
  'giu',
);

/** A part that is more than the whole. */
const checkShares = (sentence: string): Fault[] =>
  [...sentence.matchAll(OVER_WHOLE), ...sentence.matchAll(SHARES)]
    .filter((match) => Number((match[1] ?? '').replace(',', '.')) > 100)
    .map(() => ({
      code: 'share_over_whole' as const,
      text: sentence,
      message: 'a part is no more than the whole, 100 %.',
    }));

const OF_HOURS =
  /(?<![\d.,])(\d{1,3}(?:[.,]\d)?)\s?(?:%|percent|per cent|prozent)\s(?:of|der|aller)\s(?:(?:all|the|our|their|everybody's|available)\s){0,3}(?:hours|time|stunden|zeit)(?!\p{L})/iu;
const COMMITTED = anyWord(
  'committed, planned, unplanned, free, spare, spent, asked, reserved?, verplant, frei',
);

/** Another share of the hours available than the records come to. */
function checkCommitted({ shares }: Facts, sentence: string): Fault[] {
  const typed = Number((OF_HOURS.exec(sentence)?.[1] ?? '').replace(',', '.'));
  if (shares.length === 0 || !(typed > 0 && typed <= 100)) return [];
  if (!COMMITTED.test(sentence) || OTHER.test(sentence)) return [];
  if (shares.some((share) => Math.abs(share - typed) <= 1)) return [];
  const [planned = 0] = shares;
  const message = `the work items ask for ${formatNumber(Math.round(planned))} % of the hours available.`;
  return [{ code: 'total_changed', text: sentence, message }];
}

/** People who have other hours in the records of another document. */
export function checkHoursOfPeople({ input: { documents }, capacities }: Plan): Problem[] {
  const known = [...capacities.keys()];
  return [...capacities.values()].flatMap(({ key, name }): Problem[] => {
    const said = documents.flatMap(({ title, people = [] }) =>
      people
        .filter((person) => matchOwner(person.name, known) === key && person.hoursPerWeek !== null)
        .map(({ hoursPerWeek }) => ({ title, hours: hoursPerWeek ?? 0 })),
    );
    if (new Set(said.map(({ hours }) => hours)).size < 2) return [];
    const told = said.map(({ title, hours }) => `${formatNumber(hours)} in ${title}`);
    return [
      {
        code: 'person_hours_changed',
        subject: name,
        message: `${name} has different hours a week: ${joinWords(told)}. Use one everywhere.`,
        details: { said },
      },
    ];
  });
}
