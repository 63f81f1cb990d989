/** A semaphore: at most so many calls at once, the rest queue in order. */
export type ConcurrencyLimit = {
  /** Runs `work` when a place is free; a signal that aborts while waiting gives the place up. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
};

/** First come, first served. */
export function createConcurrencyLimit(places: number): ConcurrencyLimit {
  let free = places;
  const waiting: (() => void)[] = [];

  function take(signal?: AbortSignal): Promise<void> {
    if (free > 0) {
      free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal?.reason as Error);
      };
      waiting.push(start);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  return {
    async run(work, signal) {
      signal?.throwIfAborted();
      await take(signal);
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    },
  };
}
