import { untilAborted } from '../platform/clock.ts';

/** By owner and digest: what is being embedded in this process now. */
const underWay = new Map<string, Promise<void>>();

/**
 * Jobs that need the same texts at the same time wait for the one that embeds them. Where that one
 * fails, its money or its signal are not theirs: they embed the texts themselves. `signal` ends the wait
 * for others; `work` has to heed it by itself.
 */
export async function shareWork(
  owner: string,
  texts: ReadonlyMap<string, string>,
  work: (own: ReadonlyMap<string, string>) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const keyOf = (digest: string): string => `${owner} ${digest}`;
  let left = texts;
  while (left.size > 0) {
    const others = [...left].flatMap(([digest, text]) => {
      const done = underWay.get(keyOf(digest));
      return done ? [{ digest, text, done }] : [];
    });
    const own = new Map([...left].filter(([digest]) => !underWay.has(keyOf(digest))));
    const done = own.size === 0 ? Promise.resolve() : work(own);
    for (const digest of own.keys()) underWay.set(keyOf(digest), done);
    try {
      await done;
    } finally {
      for (const digest of own.keys()) underWay.delete(keyOf(digest));
    }
    const outcomes = await untilAborted(
      Promise.allSettled(others.map((one) => one.done)),
      others.length > 0 ? signal : undefined,
    );
    const lost = others.filter((_, at) => outcomes[at]?.status === 'rejected');
    left = new Map(lost.map(({ digest, text }) => [digest, text]));
  }
}
