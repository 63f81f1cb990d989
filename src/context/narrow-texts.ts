import { Worker } from 'node:worker_threads';
import { untilAborted } from '../platform/clock.ts';
import type { Block } from './block-scan.ts';
import type { Order } from './scan-thread.ts';

type Reply = { readonly id: number; readonly blocks?: Block[] };

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const threadUrl = new URL(`./scan-thread.${extension}`, import.meta.url);

/** What was found of long texts, and how far the search is. */
export type Narrowing = {
  readonly mostCharacters: number;
  readonly signal?: AbortSignal | undefined;
  /** Is called before each text with its place. */
  readonly onText?: (place: number) => void;
};

/**
 * The blocks of long texts that have most of the questions' words, the most wanted first: a pass over
 * all of the texts that costs 20 ms a megabyte, in a thread, so that only what it finds need be
 * embedded. One text at a time is copied to the thread, and none is kept there.
 */
export async function narrowTexts(
  texts: readonly string[],
  questions: readonly string[],
  { mostCharacters, signal, onText }: Narrowing,
): Promise<Block[]> {
  last += 1;
  const id = last;
  let isOver = false;
  try {
    await ask({ id, questions }, signal);
    for (const [place, text] of texts.entries()) {
      onText?.(place);
      await ask({ id, text, place }, signal);
    }
    const { blocks = [] } = await ask({ id, mostCharacters }, signal);
    isOver = true;
    return blocks;
  } finally {
    if (!isOver) thread?.postMessage({ id, isGivenUp: true } satisfies Order);
  }
}

let thread: Worker | undefined;
let last = 0;
/** The order that each search waits for. */
const waiting = new Map<number, PromiseWithResolvers<Reply>>();

/** Gives an order and waits for its answer, or for the signal. */
async function ask(order: Order, signal: AbortSignal | undefined): Promise<Reply> {
  signal?.throwIfAborted();
  thread ??= open();
  thread.ref();
  const answer = Promise.withResolvers<Reply>();
  waiting.set(order.id, answer);
  thread.postMessage(order);
  try {
    return await untilAborted(answer.promise, signal);
  } finally {
    waiting.delete(order.id);
    if (waiting.size === 0) thread?.unref();
  }
}

function open(): Worker {
  return new Worker(threadUrl, { env: {} })
    .on('message', (reply: Reply) => waiting.get(reply.id)?.resolve(reply))
    .on('error', (error) => {
      thread = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    });
}
