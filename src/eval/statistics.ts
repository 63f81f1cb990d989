/** How values lie. */
export type Summary = {
  readonly mean: number;
  /** The standard deviation of a sample; null of one value, which has none. */
  readonly deviation: number | null;
  readonly least: number;
  readonly most: number;
};

/** Mean and spread of at least one value. */
export function summarise(values: readonly number[]): Summary {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const squares = values.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return {
    mean,
    deviation: values.length < 2 ? null : Math.sqrt(squares / (values.length - 1)),
    least: Math.min(...values),
    most: Math.max(...values),
  };
}

/** What a sign test says of judgements for one side and for the other; ties are left out before. */
export type SignTest = {
  /** How likely a split at least as uneven is where both sides are as good: two-sided and exact. */
  readonly p: number;
  readonly isMoreThanChance: boolean;
  /**
   * The first larger number of judgements at which the same share would be more than chance; null
   * where it is already, where the sides are even, and where it takes more than a thousand.
   */
  readonly needed: { readonly for: number; readonly of: number } | null;
};

/** More than chance is a probability below this one twentieth. */
const ALPHA_DIVISOR = 20n;
/** Nobody pays for more judgements than this. */
const MOST_JUDGEMENTS = 1_000;

/** Tests how far a split of independent judgements is from that of a fair coin. */
export function signTest(one: number, other: number): SignTest {
  const isMoreThanChance = isUnlikely(Math.max(one, other), one + other);
  const needed = isMoreThanChance ? null : findNeeded(Math.max(one, other), one + other);
  return { p: probability(one, other), isMoreThanChance, needed };
}

/** P(a fair coin falls at least as unevenly as this); 1 of no throws. */
function probability(one: number, other: number): number {
  const of = one + other;
  const twice = 2n * countUneven(Math.max(one, other), of);
  const all = 1n << BigInt(of);
  return twice >= all ? 1 : toFraction(twice, all);
}

/** In how many of the 2^of ways to fall at least `least` of `of` coins show heads. */
function countUneven(least: number, of: number): bigint {
  let sum = 0n;
  let ways = 1n;
  for (let heads = of; heads >= least; heads--) {
    sum += ways;
    ways = (ways * BigInt(heads)) / BigInt(of - heads + 1);
  }
  return sum;
}

const isUnlikely = (least: number, of: number): boolean =>
  ALPHA_DIVISOR * 2n * countUneven(least, of) < 1n << BigInt(of);

/** The quotient has sixty bits or more, however small the fraction is. */
function toFraction(part: bigint, whole: bigint): number {
  const shift = BigInt(whole.toString(2).length - part.toString(2).length + 60);
  return Number((part << shift) / whole) / 2 ** Number(shift);
}

function findNeeded(ahead: number, of: number): SignTest['needed'] {
  if (2 * ahead <= of) return null;
  for (let next = of + 1; next <= MOST_JUDGEMENTS; next++) {
    // Rounded down: the share is that which was seen, or a little less.
    const same = Math.floor((ahead * next) / of);
    // Within 1.5 standard deviations (√next / 2) the probability is 0.13 or more: not worth a sum.
    if ((2 * same - next) ** 2 < 1.5 ** 2 * next) continue;
    if (isUnlikely(same, next)) return { for: same, of: next };
  }
  return null;
}
