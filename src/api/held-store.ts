import { DialecticError } from '../errors/errors.ts';
import type { Transport } from './client.ts';
import { METHODS, type MethodName } from './methods.ts';

/**
 * The way to a store that another process holds, for as long as it lives: when that process ends,
 * this one opens the store, or finds the process that was faster. What follows a session goes on
 * after the last event that arrived; a call of which nobody knows whether it was carried out throws.
 */
export class HeldStore implements Transport {
  readonly #open: () => Promise<Transport>;
  #current: Promise<Transport>;
  #isClosed = false;

  constructor(first: Transport, open: () => Promise<Transport>) {
    this.#current = Promise.resolve(first);
    this.#open = open;
  }

  async call(method: MethodName, args: readonly unknown[]): Promise<unknown> {
    for (;;) {
      const transport = await this.#current;
      try {
        return await transport.call(method, args);
      } catch (thrown) {
        if (!wasLeft(thrown)) throw thrown;
        this.#replace(transport);
      }
    }
  }

  async *stream(
    method: MethodName,
    given: readonly unknown[],
  ): AsyncGenerator<unknown, void, void> {
    let args = given;
    let isAway = false;
    for (;;) {
      const transport = await this.#current;
      if (isAway) yield { kind: 'store-back' };
      isAway = false;
      try {
        for await (const event of transport.stream(method, args)) {
          if (METHODS[method].kind === 'follow') args = goOnAfter(event, args);
          yield event;
        }
        return;
      } catch (thrown) {
        if (!isOver(thrown) || !canGoOn(method)) throw thrown;
        yield { kind: 'store-away', message: thrown.message };
        isAway = true;
        this.#replace(transport);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Whoever waited for a store that could not be opened was told; there is nothing to close.
    const current = await this.#current.catch(() => undefined);
    await current?.close();
  }

  /** Once, however many requests were under way when the holder ended. */
  #replace(gone: Transport): void {
    const before = this.#current;
    const next = before.then((current) => {
      if (current !== gone) return current;
      if (!this.#isClosed) return this.#open();
      throw new DialecticError('storage_closed', 'The store is closed.', { retryable: false });
    });
    this.#current = next;
    // Whoever asks for it is told; the next one that comes tries again.
    next.catch(() => {
      if (this.#current === next) this.#current = before;
    });
  }
}

const isOver = (thrown: unknown): thrown is DialecticError =>
  thrown instanceof DialecticError && thrown.code === 'holder_ended';

/** What follows a session goes on after its cursor; work on all sessions has no place to go on from. */
const canGoOn = (method: MethodName): boolean =>
  METHODS[method].kind === 'follow' || method === 'workOnAll';

const wasLeft = (thrown: unknown): boolean =>
  isOver(thrown) && thrown.details['outcome'] === 'not carried out';

/** The arguments of a follower, with the place that it has reached. */
function goOnAfter(event: unknown, args: readonly unknown[]): readonly unknown[] {
  const { cursor }: { cursor?: unknown } = Object(event);
  if (typeof cursor !== 'string') return args;
  const [session, options] = args;
  return [session, { ...Object(options), after: cursor }];
}
