import { Worker } from 'node:worker_threads';
import { every, sleep } from '../platform/clock.ts';
import type { Order, Reply } from './extract-thread.ts';
import { type Extracted, Unreadable } from './extracted.ts';

/** What one file or page may take to be read. */
export type ExtractLimits = {
  readonly extractMs?: number;
  /** How much the process may grow meanwhile. */
  readonly extractBytes?: number;
};

const MOST_MS = 30_000;
const MOST_MEMORY = 1_000_000_000;
const WATCH_MS = 50;

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const threadUrl = new URL(`./extract-thread.${extension}`, import.meta.url);

/**
 * Reads pages, PDF and DOCX in a thread, one at a time. The parsers are for files of strangers: one that
 * takes too long or too much memory is ended with its thread, and the next gets a new one. Buffers
 * lie outside the heap that a thread can be limited to, so the growth of the process is watched.
 */
export class Extractor {
  readonly #limits: ExtractLimits;
  #thread: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(limits: ExtractLimits = {}) {
    this.#limits = limits;
  }

  /** The text of some bytes; rejects with Unreadable where there is none. */
  extract(order: Order): Promise<Extracted> {
    const result = this.#last.then(() => this.#run(order));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#end();
  }

  async #run(order: Order): Promise<Extracted> {
    this.#thread ??= this.#start();
    const thread = this.#thread;
    const reply = Promise.withResolvers<Reply>();
    const fail = (error: Error): void => reply.resolve({ unreadable: describeEnd(error) });
    const over = new AbortController();
    const watch = this.#watch((reason) => reply.resolve({ unreadable: reason }));
    const ms = this.#limits.extractMs ?? MOST_MS;
    void sleep(ms, over.signal).then(() =>
      reply.resolve({ unreadable: `takes more than ${Math.ceil(ms / 1000)} s to be read` }),
    );
    thread.once('message', reply.resolve).once('error', fail);
    thread.postMessage(order);
    const answer = await reply.promise;
    watch.stop();
    over.abort();
    thread.off('message', reply.resolve).off('error', fail);
    if (!('unreadable' in answer)) return answer;
    // What failed may still run, or have left the parsers in disorder.
    await this.#end();
    throw new Unreadable(answer.unreadable);
  }

  #start(): Worker {
    const thread = new Worker(threadUrl, {
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(this.#mostMemory / 1e6) },
      // A parser has no use for keys, and what it complains about stands in its answer.
      env: {},
      stderr: true,
      stdout: true,
    });
    // A parser may also fail after it has answered; the next order then gets a new thread.
    return thread.on('error', () => {
      if (this.#thread === thread) this.#thread = undefined;
    });
  }

  get #mostMemory(): number {
    return this.#limits.extractBytes ?? MOST_MEMORY;
  }

  #watch(end: (reason: string) => void): { stop(): void } {
    const before = process.memoryUsage.rss();
    return every(WATCH_MS, () => {
      if (process.memoryUsage.rss() - before > this.#mostMemory) {
        end(`takes more than ${this.#mostMemory / 1e6} MB of memory to be read`);
      }
    });
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}

const describeEnd = (error: Error): string =>
  'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? 'takes too much memory to be read'
    : `could not be read (${error.message})`;
