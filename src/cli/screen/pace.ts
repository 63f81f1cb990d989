/** From where the pace of this process is measured: what others did before says nothing about it. */
export type Pace = { readonly iteration: number; readonly done: number; readonly sinceMs: number };

/** The pace to go on with: measured anew with each pass, and where work was taken back. */
export function keepPace(
  before: Pace | undefined,
  { iteration, done }: Omit<Pace, 'sinceMs'>,
  nowMs: number,
): Pace {
  const isKept = before !== undefined && before.iteration === iteration && done >= before.done;
  return isKept ? before : { iteration, done, sinceMs: nowMs };
}

/** Three calls are the least that an average says something about. */
const LEAST_CALLS = 3;

/** How long the rest takes at this pace; null where none is left, or too few calls were made. */
export function secondsLeft(
  pace: Pace,
  { done, total }: { readonly done: number; readonly total: number },
  nowMs: number,
): number | null {
  const own = done - pace.done;
  if (own < LEAST_CALLS || done >= total) return null;
  return ((total - done) * (nowMs - pace.sinceMs)) / own / 1000;
}
