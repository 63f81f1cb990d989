import { untilAborted } from '../platform/clock.ts';
import type { Embedder } from './embedder.ts';
import { findEmbedded, saveVectors } from './memory.ts';
import type { Reading, Recollection } from './rank-texts.ts';
import { shareWork } from './share-work.ts';

/** Texts that are embedded at a time; what was embedded before a crash or a stop is kept. */
const BATCH = 64;

/**
 * Embeds in this process, which costs nothing, and stores what was made batch by batch, in the order
 * in which the texts are given.
 */
export const rememberWith =
  (
    { database, tenantId, projectId }: Pick<Recollection, 'database' | 'tenantId' | 'projectId'>,
    embedder: Embedder,
    { signal, onParts }: Reading = {},
  ): Recollection['remember'] =>
  (texts) =>
    shareWork(
      `${tenantId} ${embedder.model}`,
      texts,
      async (own) => {
        // Another job may have stored some of them since the caller looked.
        const known = await database.asTenant(tenantId, (tx) =>
          findEmbedded(tx, embedder.model, [...own.keys()]),
        );
        const all = [...own].filter(([digest]) => !known.has(digest));
        for (let from = 0; from < all.length; from += BATCH) {
          signal?.throwIfAborted();
          onParts?.(texts.size - all.length + from, texts.size);
          const batch = all.slice(from, from + BATCH);
          // A thread that embeds goes on to the end of its batch, and nobody waits for it.
          const made = await untilAborted(embedder.embed(batch.map(([, text]) => text)), signal);
          const vectors = new Map(
            batch.flatMap(([digest], at) => (made[at] ? [[digest, made[at]] as const] : [])),
          );
          await database.asTenant(tenantId, (tx) =>
            saveVectors(tx, projectId, embedder.model, vectors),
          );
        }
      },
      signal,
    );
