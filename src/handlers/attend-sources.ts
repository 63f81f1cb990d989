import { createHash } from 'node:crypto';
import { rememberWith } from '../context/remember-with.ts';
import { type Passage, searchTexts } from '../context/search-texts.ts';
import { findEmbedder } from '../context/sentence-embedder.ts';
import {
  findSourceTexts,
  GAP,
  type SourceLevels,
  type SourcePassages,
  type SourceText,
  scoreSources,
} from '../generation/pack-sources.ts';
import type { JobContext } from '../jobs/context.ts';
import { untilAborted } from '../platform/clock.ts';
import { adapter } from '../sources/adapt-settings.ts';
import { type Candidate, chooseLevels, mayBeWhole } from '../sources/attention.ts';
import { keySentences } from '../sources/key-sentences.ts';
import type { Source } from '../sources/source.ts';
import { lengthOf } from '../sources/source-limits.ts';
import type { SourceSet } from '../sources/source-set.ts';
import type { HandlerDeps } from './handler-deps.ts';
import type { Loaded } from './load.ts';
import { watchReading } from './watch-reading.ts';

/** So many passages are ranked by what the stage, and by what the request is about. */
const MOST_PASSAGES = 200;

/** For each question the parts of texts that serve it. */
type Search = (
  texts: readonly string[],
  questions: readonly string[],
  most: number,
) => Promise<readonly (readonly Passage[])[]> | readonly (readonly Passage[])[];

/** Where a job is, as far as choosing sources needs it: a plan that is only shown has no signals. */
type Attending = Pick<JobContext, 'job'> & Partial<Pick<JobContext, 'signal' | 'stopping'>>;

/**
 * Chooses which sources a prompt shows in full, by passages or by their key sentences, where all would
 * be too long; the others stay in its list. Sources that were left out are found again by vector search,
 * as soon as a stage is about them. All steps of a stage get the same choice, so that they share their
 * prefix. `search` stands in for the vector search, which embeds and stores what it has not met before.
 */
export async function attendSources(
  deps: Pick<HandlerDeps, 'database' | 'embedder'>,
  context: Attending,
  loaded: Loaded,
  search?: Search,
): Promise<Loaded> {
  const { sources, session, stage, facts, seedPrompt } = loaded;
  const texts = findSourceTexts(sources);
  const length = texts.reduce((sum, { text }) => sum + text.length, 0);
  const room = roomOf(session.id, stage.key);
  if (length <= room) return loaded;
  const asked = [`${stage.description}\n${seedPrompt}`, facts.userRequest].map((text) =>
    text.slice(0, LONGEST_QUESTION),
  );
  const bodies = texts.map(({ text }) => text);
  const found = search
    ? await search(bodies, asked, MOST_PASSAGES)
    : await searchOnce(deps, context, loaded, bodies, asked);
  const [relevance, objective] = found.map((passages) => {
    const best = new Map<string, number>();
    for (const { text, score } of passages) {
      const { id } = texts[text]!.source;
      best.set(id, Math.max(best.get(id) ?? 0, score));
    }
    return best;
  });
  const passages = choosePassages(texts, found, room);
  const uses = await countUses(deps, context.job.tenantId, loaded);
  const most = Math.max(1, ...uses.values());
  const { standing } = sources;
  const shortOf = (source: Source): SourcePassages =>
    passages.get(source.id) ?? { passages: keySentences(source.excerpts, source.title) };
  const candidates = standing.map((source, at): Candidate => {
    const { id } = source;
    const attention = {
      relevance: relevance?.get(id) ?? 0,
      objective: objective?.get(id) ?? 0,
      use: (uses.get(id) ?? 0) / most,
      recency: (at + 1) / standing.length,
    };
    return {
      id,
      attention,
      get sizes(): Candidate['sizes'] {
        return [lengthOf(source.excerpts), shortOf(source).passages.join(GAP).length];
      },
    };
  });
  const levels = chooseLevels(candidates, room, seedOf(session.id, stage.key));
  const sourceLevels: SourceLevels = new Map(
    standing.map((source) => {
      const level = levels.get(source.id) ?? null;
      return [source.id, level === 1 ? shortOf(source) : level];
    }),
  );
  await scoreSources(sources, facts.userRequest);
  return { ...loaded, sourceLevels };
}

type Found = readonly (readonly Passage[])[];

/** Searches that are made or under way, by stage and questions, as long as the sources are in memory. */
const searches = new WeakMap<SourceSet, Map<string, Promise<Found>>>();

/** All jobs of a stage ask the same: they wait for the one that searches, and search where it fails. */
async function searchOnce(
  { database, embedder = findEmbedder() }: Pick<HandlerDeps, 'database' | 'embedder'>,
  { job, signal = NEVER, stopping = NEVER }: Attending,
  { sources, session, planned }: Loaded,
  texts: readonly string[],
  asked: readonly string[],
): Promise<Found> {
  const { tenantId } = job;
  const place = { database, tenantId, projectId: session.projectId, sessionId: session.id };
  const known = searches.get(sources) ?? new Map<string, Promise<Found>>();
  searches.set(sources, known);
  const key = [session.id, embedder.model, ...asked].join('\0');
  const titles = sources.standing.map(({ title }) => title);
  const subject = { session, planned, titles };
  return watchReading({ database }, { job, signal, stopping }, subject, async (reading) => {
    for (;;) {
      const other = known.get(key);
      if (other === undefined) break;
      const settled = other.catch(() => undefined);
      const outcome = await untilAborted(settled, reading.signal);
      if (outcome !== undefined) return outcome;
    }
    const memory = { ...place, ...reading, embedder };
    const remember = rememberWith(place, embedder, reading);
    const search = searchTexts({ ...memory, remember }, texts, asked, MOST_PASSAGES);
    known.set(key, search);
    search.catch(() => known.get(key) === search && known.delete(key));
    return search;
  });
}

const NEVER = new AbortController().signal;

/** Texts of which none can be shown whole share this part of the room. */
const PASSAGES_SHARE = 3 / 4;

/**
 * The passages that were found of sources which are too long to be shown whole, the best of each
 * question in turn as far as the source's share of the room goes, in the order of the source.
 */
function choosePassages(
  texts: readonly SourceText[],
  found: Found,
  room: number,
): ReadonlyMap<string, SourcePassages> {
  const long = new Set(
    texts
      .filter(({ source }) => !mayBeWhole(lengthOf(source.excerpts), room))
      .map(({ source }) => source.id),
  );
  const share = (room * PASSAGES_SHARE) / Math.max(1, long.size);
  const chosen = new Map<string, { left: number; passages: Map<string, Passage> }>();
  for (let rank = 0; rank < MOST_PASSAGES; rank++) {
    for (const passage of found.flatMap((ranking) => ranking[rank] ?? [])) {
      const { id } = texts[passage.text]!.source;
      if (!long.has(id)) continue;
      const own = chosen.get(id) ?? { left: share, passages: new Map<string, Passage>() };
      chosen.set(id, own);
      const size = passage.passage.length + GAP.length;
      if (own.passages.has(passage.passage) || size > own.left) continue;
      own.left -= size;
      own.passages.set(passage.passage, passage);
    }
  }
  return new Map(
    [...chosen].map(([id, { passages }]) => {
      const ordered = [...passages.values()].toSorted(
        (a, b) => a.text - b.text || a.order - b.order,
      );
      return [id, { passages: ordered.map(({ passage }) => passage) }];
    }),
  );
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
