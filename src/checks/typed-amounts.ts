import { readAmount, readPer } from './read-values.ts';

/** An amount in running text. */
export type Amount = {
  readonly low: number;
  readonly high: number;
  /** `hours`, or a currency by its code. */
  readonly unit: string;
  /** `other`: of a day or a person, for example. */
  readonly per: 'week' | 'month' | 'year' | 'other' | '';
  /** What follows it in the text. */
  readonly after: string;
};

const NUMBER = String.raw`\d+(?:[,.]\d+|[ '’\u00a0\u202f]\d{3}(?!\d))*(?:\s?k(?!\p{L}))?`;
const DASH = String.raw`\s?(?:-|–|—|to|bis|and|und)\s?`;
const SIGN = '(?:€|£|(?:US)?\\$|EUR|USD|CHF|GBP)';
const HOURS = new RegExp(
  String.raw`(?<![\p{L}\d.,])(${NUMBER})(?:${DASH}(${NUMBER}))?\s` +
    String.raw`(?:planned |working |estimated |geplante |geschätzte )?` +
    String.raw`(?:hours|hour|h|stunden|stunde|std)(?!\p{L})(?=(.{0,24}))`,
  'giu',
);
const SIGN_FIRST = String.raw`(?<![\p{L}\d.,])(${SIGN})\s?(${NUMBER})(?:${DASH}${SIGN}?\s?(${NUMBER}))?`;
const SIGN_LAST =
  String.raw`(?<![\p{L}\d.,])(${NUMBER})(?:${DASH}(${NUMBER}))?\s?` +
  String.raw`(${SIGN}|euros?|dollars?)(?!\p{L})`;
const MONEY = new RegExp(`${SIGN_FIRST}(?=(.{0,24}))|${SIGN_LAST}(?=(.{0,24}))`, 'giu');

const PERIODS = 'week|month|year|day|person|woche|monat|jahr|tag|weekly|monthly|yearly';
const PERIOD = new RegExp(
  String.raw`^\s?\(?(?:(?:a|per|each|every|in a|pro|je|the)\s)?(?:${PERIODS})|^\s?/`,
  'i',
);

/** Amounts of hours and of money, with the period behind them. */
export function findAmounts(text: string): Amount[] {
  const hours = [...text.matchAll(HOURS)].map(([, low = '', high, after = '']) =>
    toAmount(low, high, 'hours', after),
  );
  const money = [...text.matchAll(MONEY)].map((match) => {
    const [, sign, low, high, after, lowFirst, highFirst, signAfter, rest] = match;
    return toAmount(
      low ?? lowFirst ?? '',
      high ?? highFirst,
      sign ?? signAfter ?? '',
      after ?? rest ?? '',
    );
  });
  return [...hours, ...money].filter((amount) => amount !== null);
}

function toAmount(
  low: string,
  high: string | undefined,
  unit: string,
  after: string,
): Amount | null {
  const isMoney = unit !== 'hours';
  const read = (figure: string) => readAmount(isMoney ? `${figure} ${unit}` : figure);
  const [first, last] = [read(low), read(high ?? low)];
  if (first === null || last === null) return null;
  const ends = [first.high, last.high];
  const stated = PERIOD.exec(after);
  const per = stated === null ? '' : readPer(stated[0]);
  return {
    low: Math.min(...ends),
    high: Math.max(...ends),
    unit: isMoney ? first.unit : 'hours',
    per: stated !== null && (per === '' || per === 'once') ? 'other' : per === 'once' ? '' : per,
    after,
  };
}
