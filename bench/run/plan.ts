import { hash } from 'node:crypto';

/** One call of a debate: what was sent, and the calls whose answers it needs. */
export type PlannedCall = {
  readonly id: string;
  readonly needs: readonly string[];
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

/** How long a model takes to answer, and how far a call may be off that, as a part of it. */
export type Latency = { readonly ms: number; readonly spread: number };

/** Where a call stands between the fastest and the slowest, which is the same whoever makes it. */
export const paceOf = (model: string, messages: unknown): number =>
  hash('sha256', JSON.stringify([model, messages]), 'buffer').readUInt32BE() / 2 ** 32;

/** The time of one call. */
export const latencyAt = ({ ms, spread }: Latency, pace: number): number =>
  ms * (1 + spread * (2 * pace - 1));

/**
 * The shortest time in which so many slots can make the calls: whenever one is free, the call that is
 * ready and has the longest way behind it goes first. Where all calls take as long no schedule beats
 * that by more than one of them, and where slots are left over none beats it at all.
 */
export function shortestMs(calls: readonly PlannedCall[], slots: number, latency: Latency): number {
  const times = new Map(
    calls.map(({ id, model, messages }) => [id, latencyAt(latency, paceOf(model, messages))]),
  );
  const heights = readHeights(calls, times);
  const done = new Set<string>();
  let waiting = calls.toSorted((a, b) => heights.get(b.id)! - heights.get(a.id)!);
  let running: { id: string; until: number }[] = [];
  for (let now = 0; ; now = Math.min(...running.map(({ until }) => until))) {
    for (const { id } of running.filter(({ until }) => until <= now)) done.add(id);
    running = running.filter(({ until }) => until > now);
    const ready = waiting.filter(({ needs }) => needs.every((need) => done.has(need)));
    const taken = new Set(ready.slice(0, slots - running.length));
    for (const { id } of taken) running.push({ id, until: now + times.get(id)! });
    waiting = waiting.filter((call) => !taken.has(call));
    if (running.length > 0) continue;
    if (waiting.length === 0) return now;
    throw new Error('Calls need each other in a circle.');
  }
}

/** The time from the start of a call to the end of the last one that needs it. */
function readHeights(
  calls: readonly PlannedCall[],
  times: ReadonlyMap<string, number>,
): Map<string, number> {
  const readers = new Map<string, PlannedCall[]>();
  for (const call of calls) {
    for (const need of call.needs) readers.set(need, [...(readers.get(need) ?? []), call]);
  }
  const heights = new Map<string, number>();
  const heightOf = ({ id }: PlannedCall): number => {
    const known = heights.get(id);
    if (known !== undefined) return known;
    const height = times.get(id)! + Math.max(0, ...(readers.get(id) ?? []).map(heightOf));
    heights.set(id, height);
    return height;
  };
  for (const call of calls) heightOf(call);
  return heights;
}
