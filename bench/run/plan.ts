/** One call of a debate: what was sent, and the calls whose answers it needs. */
export type PlannedCall = {
  readonly id: string;
  readonly needs: readonly string[];
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

/**
 * The shortest time in which so many slots can make the calls, each of which takes as long as the
 * next: in each turn the calls that are ready and have the longest way behind them go first, which
 * no schedule beats by more than one turn.
 */
export function countTurns(calls: readonly PlannedCall[], slots: number): number {
  const readers = new Map<string, PlannedCall[]>();
  for (const call of calls) {
    for (const need of call.needs) readers.set(need, [...(readers.get(need) ?? []), call]);
  }
  const heights = new Map<string, number>();
  const heightOf = ({ id }: PlannedCall): number => {
    const known = heights.get(id);
    if (known !== undefined) return known;
    const height = 1 + Math.max(0, ...(readers.get(id) ?? []).map(heightOf));
    heights.set(id, height);
    return height;
  };
  const done = new Set<string>();
  let waiting = calls.toSorted((a, b) => heightOf(b) - heightOf(a));
  for (let turns = 0; ; turns++) {
    if (waiting.length === 0) return turns;
    const ready = waiting.filter(({ needs }) => needs.every((need) => done.has(need)));
    const taken = new Set(ready.slice(0, slots));
    if (taken.size === 0) throw new Error('Calls need each other in a circle.');
    for (const { id } of taken) done.add(id);
    waiting = waiting.filter((call) => !taken.has(call));
  }
}
