import type { Expression } from './expressions.ts';

/**
 * Lengths of the texts that are tried, the shortest first: an exponential expression shows with the
 * first, a cubic one with the second, a quadratic one with the third.
 */
const LENGTHS = [27, 400, 8_000];
const LONG = 1_000_000;
/** Tried before the long one, for which a quadratic expression would take minutes. */
const MIDDLE = 64_000;
/** A linear scan of 8,000 characters takes microseconds; a quadratic one tens of milliseconds. */
const SHORT_LIMIT_MS = 25;
/** A linear scan of a megabyte takes milliseconds; a quadratic one minutes. */
const LONG_LIMIT_MS = 1_500;

/** Characters of every kind that expressions ask for, beside those that they name themselves. */
const COMMON = [' ', '\n', 'a', 'A', '1', '_', '-', '.', '`', '\u00e9'];
const MOST_TOKENS = 15;

/** Words and signs that the expression names, and what its classes stand for. */
function tokensOf({ source }: RegExp): string[] {
  const words = source.replace(/\\[pPuxk](?:\{[^}]*\}|<[^>]*>)?|\\[dDsSwWbBnrt]/g, ' ');
  const named = words.match(/[A-Za-z]{2,}|[^A-Za-z\s\\]/g) ?? [];
  return [...new Set([...COMMON, ...named])].slice(0, MOST_TOKENS);
}

/** What gets an anchored expression past its beginning: its own leading words. */
function leadsOf({ source }: RegExp): string[] {
  const lead =
    /^\^?((?:[A-Za-z0-9_ /:<#-]|\\[-/.])+)/.exec(source)?.[1]?.replaceAll('\\', '') ?? '';
  return [...new Set(['', lead])];
}

/** Units that, repeated, make an expression try the same text from many places. */
function unitsOf(expression: RegExp): string[] {
  const tokens = tokensOf(expression);
  return [...tokens, ...tokens.flatMap((one) => tokens.map((other) => one + other))];
}

/** The end is what no expression asks for, so that a match that reaches it fails late. */
const build = ({ lead, unit }: Attack, length: number): string =>
  `${lead}${unit.repeat(Math.ceil(length / unit.length))}\u0001\n\u0001`;

/**
 * How long the expression takes for a text, all its matches included where it looks for all. The
 * processor's time is measured: on a busy machine the clock goes on while others run.
 */
function time(expression: RegExp, text: string): number {
  const started = process.cpuUsage();
  expression.lastIndex = 0;
  if (expression.global) text.replace(expression, '');
  else expression.exec(text);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

type Attack = { readonly lead: string; readonly unit: string };
type Worst = Attack & { readonly ms: number };

/** The attack that costs the expression most; the first that is too slow ends the search. */
function findWorst(expression: RegExp): Worst {
  let worst: Worst = { lead: '', unit: ' ', ms: 0 };
  const attacks = unitsOf(expression).flatMap((unit) =>
    leadsOf(expression).map((lead) => ({ lead, unit })),
  );
  for (const length of LENGTHS) {
    for (const attack of attacks) {
      const text = build(attack, length);
      const first = time(expression, text);
      // The first run may include the compiler's work: what is slow must be slow again.
      const ms = first > SHORT_LIMIT_MS ? Math.min(first, time(expression, text)) : first;
      if (ms > worst.ms) worst = { ...attack, ms };
      if (ms > SHORT_LIMIT_MS) return worst;
    }
  }
  return worst;
}

/** An expression that repeats nothing takes as long as it is. */
const repeats = ({ source }: RegExp): boolean => /[*+]|\{\d+,\d*\}/.test(source);

/** The expressions that take more than linear time, each with the text that shows it. */
export const findSlow = (expressions: readonly Expression[]): string[] =>
  expressions
    .filter(({ expression }) => repeats(expression))
    .flatMap(({ place, expression }) => {
      const worst = findWorst(expression);
      const measure = (length: number): number => time(expression, build(worst, length));
      const slow = worst.ms > SHORT_LIMIT_MS || measure(MIDDLE) > LONG_LIMIT_MS / 5;
      const long = slow ? Number.NaN : measure(LONG);
      if (!slow && long <= LONG_LIMIT_MS) return [];
      const attack = `${JSON.stringify(worst.lead)} + ${JSON.stringify(worst.unit)}`;
      return [
        `${place} ${expression} on ${attack}: ${worst.ms.toFixed(1)} ms, ${long.toFixed(0)} ms`,
      ];
    });
