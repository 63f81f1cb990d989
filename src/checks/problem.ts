import { CHECKS, type Check } from '../recipe/types.ts';
import { compareIds, compareTexts } from './ids.ts';

/** The kinds of faults that code finds in a plan; recipes list them, the gravest first. */
type ProblemCode = Exclude<Check, 'too_long' | 'too_many_codes'>;

/** One fault, for the writer who mends it and for the reader of the first page. */
export type Problem = {
  readonly code: ProblemCode;
  /** The person, demand, work item, finding, figure or field at fault. */
  readonly subject: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
};

/** The gravest first, then by subject: W2 before W10. */
export function compareProblems(a: Problem, b: Problem): number {
  const grave = CHECKS.indexOf(a.code) - CHECKS.indexOf(b.code);
  return grave || compareIds(a.subject, b.subject) || compareTexts(a.message, b.message);
}

const NUMBERS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** 15000 as "15,000", 2.5 as "2.5". */
export const formatNumber = (value: number): string => NUMBERS.format(value);

/** "3", "3 and 4", "3, 4 and 5". */
export function joinWords(words: readonly (string | number)[]): string {
  const last = words.at(-1);
  return words.length < 2 ? String(last ?? '') : `${words.slice(0, -1).join(', ')} and ${last}`;
}

/** "1 hour", "2.5 hours". */
export const count = (value: number, noun: string): string =>
  `${formatNumber(value)} ${noun}${value === 1 ? '' : 's'}`;

/** A text as a reader quotes it, shortened at a word. */
export function quote(text: string, length = 120): string {
  if (text.length <= length) return `“${text}”`;
  return `“${text.slice(0, length).replace(/(?<!\s)\s+\S*$/, '')}…”`;
}

/** Sums and quotients of hours carry errors of rounding; differences below this are none. */
export const EPSILON = 1e-6;
