/** Chance that a seed decides: the same seed gives the same choices on every machine. */
export type Chance = {
  /** From 0 up to 1. */
  readonly next: () => number;
  /** A whole number from `low` to `high`, both included. */
  readonly between: (low: number, high: number) => number;
  readonly happens: (probability: number) => boolean;
  readonly pick: <T>(from: readonly T[]) => T;
  /** One of the keys, as often as its weight says. */
  readonly weigh: <T extends string>(weights: Readonly<Record<T, number>>) => T;
};

/** Mulberry32: small, fast, and good enough to choose schedules. */
export function chanceOf(seed: number): Chance {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low: number, high: number): number =>
    low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    happens: (probability) => next() < probability,
    pick: (from) => from[Math.floor(next() * from.length)]!,
    weigh: (weights) => {
      const entries = Object.entries(weights) as [never, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      return entries.find(([, weight]) => (left -= weight) < 0)?.[0] ?? entries[0]![0];
    },
  };
}
