import type { Embedder } from './embedder.ts';
import { saveVectors } from './memory.ts';
import type { Recollection } from './rank-texts.ts';

/** Texts that are embedded at a time; what was embedded before a crash is kept. */
const BATCH = 64;

/** Embeds in this process, which costs nothing, and stores what was made batch by batch. */
export const rememberWith =
  (
    { database, tenantId, projectId }: Pick<Recollection, 'database' | 'tenantId' | 'projectId'>,
    embedder: Embedder,
  ): Recollection['remember'] =>
  async (texts) => {
    const all = [...texts];
    for (let from = 0; from < all.length; from += BATCH) {
      const batch = all.slice(from, from + BATCH);
      const made = await embedder.embed(batch.map(([, text]) => text));
      const vectors = new Map(
        batch.flatMap(([digest], at) => (made[at] ? [[digest, made[at]] as const] : [])),
      );
      await database.asTenant(tenantId, (tx) =>
        saveVectors(tx, projectId, embedder.model, vectors),
      );
    }
  };
