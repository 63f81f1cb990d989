import type { Transaction } from '../db/transaction.ts';
import type { Chunk } from './chunk-markdown.ts';
import type { Embedded } from './embedder.ts';
import { digestOf, receiveVector, toArray } from './memory.ts';
import { highest, serveQuestion } from './rank-chunks.ts';
import { VectorScan } from './vector-scan.ts';
import { WordIndex } from './word-index.ts';
import { subjectWords } from './words.ts';

/** Where to search, and how much is wanted. */
export type Search = {
  /** The embedding model whose vectors are compared. */
  readonly model: string;
  /** Digests of the texts to search in; all where absent. */
  readonly items?: readonly string[];
  /** Only texts that this session has read. */
  readonly sessionId?: string;
  /** How many chunks each question gets. */
  readonly most: number;
};

/** A chunk that serves a question, by its text and its place in it. */
export type Match = {
  readonly item: string;
  readonly place: number;
  readonly digest: string;
  readonly body: string;
  readonly score: number;
};

/** Each ranking is followed this many times deeper than chunks are wanted. */
const DEPTH = 4;

/** Stores the chunks of texts for the search, once for each text, and that a session has read them. */
export async function saveChunks(
  tx: Transaction,
  place: { readonly projectId: string; readonly sessionId: string | null },
  texts: ReadonlyMap<string, readonly Chunk[]>,
): Promise<void> {
  const items = new Map([...texts].map(([text, chunks]) => [digestOf(text), chunks]));
  const rows = [...items].flatMap(([item, chunks]) =>
    chunks.map(({ text }, at) => ({ item, at, text, words: subjectWords(text) })),
  );
  await tx.query(
    `insert into memory_chunks (tenant_id, item, place, digest, body, words, size, project_id)
     select $1, c.item, c.place, c.digest, c.body, c.words::tsvector, c.size, $2
     from unnest($3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::int[])
       as c (item, place, digest, body, words, size)
     order by c.item, c.place
     on conflict (tenant_id, item, place) do update set project_id = excluded.project_id
       where memory_chunks.project_id <> excluded.project_id`,
    [
      tx.tenantId,
      place.projectId,
      rows.map(({ item }) => item),
      rows.map(({ at }) => at),
      rows.map(({ text }) => digestOf(text)),
      rows.map(({ text }) => text),
      rows.map(({ words }) => toVector(words)),
      rows.map(({ words }) => words.length),
    ],
  );
  if (place.sessionId === null) return;
  await tx.query(
    `insert into memory_items (tenant_id, session_id, item)
     select $1, $2, i from unnest($3::text[]) as i on conflict do nothing`,
    [tx.tenantId, place.sessionId, [...items.keys()]],
  );
}

/** PostgreSQL keeps at most so many places of a word, each below 16,384, in at most a megabyte. */
const MOST_PLACES = 255;
const MOST_WORDS = 16_000;

/** Words as a tsvector that was cut into words here: the database counts the same ones. */
function toVector(words: readonly string[]): string {
  const places = Map.groupBy(words.slice(0, MOST_WORDS).entries(), ([, word]) => word);
  return [...places]
    .map(
      ([word, all]) =>
        `'${word}':${all
          .slice(0, MOST_PLACES)
          .map(([at]) => at + 1)
          .join()}`,
    )
    .join(' ');
}

/**
 * For each question the chunks that serve it best, by meaning and by words: in the database where it
 * has pgvector, else by reading and comparing all in this process. Both give the same ranking.
 */
export async function matchChunks(
  tx: Transaction,
  search: Search,
  questions: readonly Embedded[],
): Promise<Match[][]> {
  if (!(await hasPgvector(tx))) return scanChunks(tx, search, questions);
  const found: Match[][] = [];
  for (const question of questions) found.push(await queryChunks(tx, search, question));
  return found;
}

async function hasPgvector(tx: Transaction): Promise<boolean> {
  const { has } = await tx.queryOne<{ has: boolean }>(
    `select to_regtype('vector') is not null as has`,
  );
  return has;
}

/** The search with pgvector. */
const queryChunks = (
  tx: Transaction,
  { model, items, sessionId, most }: Search,
  { text, vector }: Embedded,
): Promise<Match[]> =>
  tx.query<Match>(
    `select item, place, digest, body, score
     from match_chunks($1, $2, $3, $4, $5, $6::real[], $7, $8)`,
    [
      tx.tenantId,
      items ?? null,
      sessionId ?? null,
      model,
      [...new Set(subjectWords(text))],
      toArray(vector),
      most * DEPTH,
      most,
    ],
  );

type ScannedChunk = Omit<Match, 'score'> & { readonly sent: Buffer | null };

/** The search by the exact scan: what is within the filter is read and compared here. */
export async function scanChunks(
  tx: Transaction,
  { model, items, sessionId, most }: Search,
  questions: readonly Embedded[],
): Promise<Match[][]> {
  const rows = await tx.query<ScannedChunk>(
    `select c.item, c.place, c.digest, c.body, array_send(v.vector) as sent
     from memory_chunks c
     left join memory_vectors v
       on v.tenant_id = c.tenant_id and v.digest = c.digest and v.model = $1
     where ($2::text[] is null or c.item = any ($2))
       and ($3::uuid is null or exists (select from memory_items i
         where i.tenant_id = c.tenant_id and i.session_id = $3 and i.item = c.item))
     order by c.item, c.place`,
    [model, items ?? null, sessionId ?? null],
  );
  const chunks = rows.map(({ body, sent }) => ({
    text: body,
    vector: sent === null ? new Float32Array() : receiveVector(sent),
  }));
  const words = new WordIndex(chunks.map(({ text }) => text));
  const vectors = new VectorScan(chunks);
  return questions.map((question) => {
    const scores = serveQuestion(vectors, words, question, most * DEPTH);
    return highest(scores, most).flatMap((at) => {
      const row = rows[at];
      if (!row) return [];
      const { sent: _, ...match } = row;
      return [{ ...match, score: scores[at] ?? 0 }];
    });
  });
}
