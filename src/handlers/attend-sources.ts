import { createHash } from 'node:crypto';
import { rememberWith } from '../context/remember-with.ts';
import { type Passage, searchTexts } from '../context/search-texts.ts';
import { findEmbedder } from '../context/sentence-embedder.ts';
import { findSourceTexts, type SourceLevels } from '../generation/pack-sources.ts';
import type { Job } from '../jobs/types.ts';
import { adapter } from '../sources/adapt-settings.ts';
import { type Candidate, chooseLevels } from '../sources/attention.ts';
import { keySentences } from '../sources/key-sentences.ts';
import type { Source } from '../sources/source.ts';
import type { HandlerDeps } from './handler-deps.ts';
import type { Loaded } from './load.ts';

/** So many passages are ranked by what the stage, and by what the request is about. */
const MOST_PASSAGES = 200;

/** For each question the parts of texts that serve it. */
type Search = (
  texts: readonly string[],
  questions: readonly string[],
  most: number,
) => Promise<readonly (readonly Passage[])[]> | readonly (readonly Passage[])[];

/**
 * Chooses which sources a prompt shows in full or by their key sentences, where all would be too long;
 * the others stay in its list. Sources that were left out are found again by vector search, as soon as
 * a stage is about them. All steps of a stage get the same choice, so that they share their prefix.
 * `search` stands in for the vector search, which embeds and stores what it has not met before.
 */
export async function attendSources(
  deps: Pick<HandlerDeps, 'database' | 'embedder'>,
  { tenantId }: Pick<Job, 'tenantId'>,
  loaded: Loaded,
  search?: Search,
): Promise<Loaded> {
  const { sources, session, stage, facts, seedPrompt } = loaded;
  const texts = findSourceTexts(sources);
  const length = texts.reduce((sum, { text }) => sum + text.length, 0);
  const room = roomOf(session.id, stage.key);
  if (length <= room) return loaded;
  const { database, embedder = findEmbedder() } = deps;
  const place = { database, tenantId, projectId: session.projectId, sessionId: session.id };
  const memory = { ...place, embedder, remember: rememberWith(place, embedder) };
  const asked = [`${stage.description}\n${seedPrompt}`, facts.userRequest];
  const searched: Search = search ?? ((...given) => searchTexts(memory, ...given));
  const found = await searched(
    texts.map(({ text }) => text),
    asked.map((text) => text.slice(0, LONGEST_QUESTION)),
    MOST_PASSAGES,
  );
  const [relevance, objective] = found.map((passages) => {
    const best = new Map<string, number>();
    for (const { text, score } of passages) {
      const { id } = texts[text]!.source;
      best.set(id, Math.max(best.get(id) ?? 0, score));
    }
    return best;
  });
  const uses = await countUses(deps, tenantId, loaded);
  const most = Math.max(1, ...uses.values());
  const candidates = sources.standing.map(
    (source, at): Candidate => ({
      id: source.id,
      attention: {
        relevance: relevance?.get(source.id) ?? 0,
        objective: objective?.get(source.id) ?? 0,
        use: (uses.get(source.id) ?? 0) / most,
        recency: (at + 1) / sources.standing.length,
      },
      sizes: sizesOf(source),
    }),
  );
  const sourceLevels: SourceLevels = chooseLevels(candidates, room, seedOf(session.id, stage.key));
  return { ...loaded, sourceLevels };
}

/** The room of stages that were begun here: all prompts of a stage must show the same texts. */
const rooms = new Map<string, number>();
const MOST_ROOMS = 1_000;

/** So many characters of source texts does a prompt show in full, as they were when the stage began. */
function roomOf(sessionId: string, stage: string): number {
  const key = `${sessionId}/${stage}`;
  const room = rooms.get(key) ?? adapter.settings.textCharacters;
  if (rooms.size >= MOST_ROOMS) rooms.clear();
  rooms.set(key, room);
  return room;
}

/** Longer questions are cut: an embedding takes in a few hundred words. */
const LONGEST_QUESTION = 2_000;

const sizesOf = ({ excerpts, title }: Source): Candidate['sizes'] => [
  excerpts.reduce((sum, text) => sum + text.length, 0),
  keySentences(excerpts, title).join('\n').length,
];

/** How often documents of earlier stages cite each source: this stage's own would change the choice. */
async function countUses(
  { database }: Pick<HandlerDeps, 'database'>,
  tenantId: string,
  { session, stage, sources }: Loaded,
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.asTenant(tenantId, (tx) =>
    tx.query<{ source: number; uses: number }>(
      `select u.source, count(*)::int as uses from source_uses u
       join documents d on d.tenant_id = u.tenant_id and d.id = u.document_id
       where u.project_id = $1 and not d.superseded and d.stage_key <> $2 group by u.source`,
      [session.projectId, stage.key],
    ),
  );
  const uses = new Map<string, number>();
  for (const { source, uses: count } of rows) {
    const id = sources.find(`S${source}`)?.aliasOf ?? `S${source}`;
    uses.set(id, (uses.get(id) ?? 0) + count);
  }
  return uses;
}

const seedOf = (...parts: readonly string[]): number =>
  createHash('sha256').update(parts.join('/')).digest().readInt32LE(0);
