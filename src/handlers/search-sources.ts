import { rememberWith } from '../context/remember-with.ts';
import { type Passage, searchTexts } from '../context/search-texts.ts';
import { findEmbedder } from '../context/sentence-embedder.ts';
import { readQueries } from '../generation/read-queries.ts';
import type { JobContext } from '../jobs/context.ts';
import { parseModelId } from '../models/model-id.ts';
import {
  admitSources,
  countCharacters,
  readProjectSources,
  SAME_TEXT,
} from '../sources/project-sources.ts';
import type { Source } from '../sources/source.ts';
import { splitGiven } from '../sources/source-copies.ts';
import { lengthOf, SOURCE_LIMITS } from '../sources/source-limits.ts';
import { countNoun } from '../text/count-noun.ts';
import type { HoldResult } from '../wallet/holds.ts';
import { chargeSearches } from '../wallet/search-charges.ts';
import { FundsRefused } from './embedding-call.ts';
import type { HandlerDeps } from './handler-deps.ts';
import type { Loaded } from './load.ts';
import { watchReading } from './watch-reading.ts';

/** So many passages answer a query. */
const MOST_PASSAGES = 4;
/** Passages that are high in neither ranking, by meaning or by words, are left out. */
const LEAST_SCORE = 0.3;

/** What was found in a source, and by which queries. */
type Found = { readonly passages: Set<string>; readonly queries: Set<string> };

/**
 * Searches for the queries of all lanes: with the search service, whose finds become sources of the
 * project, and then in the texts of all its sources. Gives what was found word for word. Every lane
 * does so and finds the same, so that ids do not depend on which lane was first.
 */
export async function searchSources(
  deps: HandlerDeps,
  context: Pick<JobContext, 'job' | 'signal' | 'stopping'>,
  { session, inputs, planned }: Pick<Loaded, 'session' | 'inputs' | 'planned'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { database, embedder = findEmbedder() } = deps;
  const { tenantId } = context.job;
  const { projectId, id: sessionId } = session;
  const queries = readQueries(inputs);
  // A replay costs nothing and asks nobody: what was found then is among its sources.
  if (!isReplay(session)) await admitFinds(deps, context, projectId, queries);
  const { standing } = await database.asTenant(tenantId, (tx) => readProjectSources(tx, projectId));
  const texts = standing.flatMap((source) => source.excerpts.map((text) => ({ source, text })));
  const place = { database, tenantId, projectId, sessionId };
  const subject = { session, planned, titles: standing.map(({ title }) => title) };
  const answers = await watchReading(deps, context, subject, (reading) => {
    const remember = rememberWith(place, embedder, reading);
    const bodies = texts.map(({ text }) => text);
    const memory = { ...place, ...reading, embedder, remember };
    return searchTexts(memory, bodies, queries, MOST_PASSAGES);
  });
  const sources = texts.map(({ source }) => source);
  return describeFinds(queries, answers, sources);
}

const toRefusal = (held: HoldResult): FundsRefused => new FundsRefused(held);

const isReplay = ({ lanes }: Loaded['session']): boolean =>
  lanes.every(({ model }) => parseModelId(model).provider === 'recorded');

/**
 * Asks the search service, and makes sources of what it found. In a transaction of its own: when a job
 * is run again, what it finds again is known by its key and keeps its id.
 */
async function admitFinds(
  { database, search, likeness = SAME_TEXT }: HandlerDeps,
  { job, signal }: Pick<JobContext, 'job' | 'signal'>,
  projectId: string,
  queries: readonly string[],
): Promise<void> {
  if (search === undefined || queries.length === 0) return;
  const { tenantId, sessionId } = job;
  const searches = { service: search.service, count: queries.length, sessionId };
  const found = await chargeSearches({ database, tenantId }, searches, toRefusal, (onAnswered) =>
    search.search(queries, signal, onAnswered),
  );
  const finds = found.map((one) => ({ ...splitGiven(one), origin: 'research' as const }));
  await database.asTenant(job.tenantId, async (tx) => {
    let left = SOURCE_LIMITS.together - (await countCharacters(tx, projectId));
    // The best come first. What the project has no room for is left out: the others still serve.
    const taken = finds.filter(({ draft: { excerpts } }) => {
      const length = lengthOf(excerpts);
      if (length > Math.min(left, SOURCE_LIMITS.each)) return false;
      left -= length;
      return true;
    });
    return admitSources(tx, projectId, taken, likeness);
  });
}

function describeFinds(
  queries: readonly string[],
  answers: readonly (readonly Passage[])[],
  sources: readonly Source[],
): Readonly<Record<string, unknown>> {
  const found = new Map<Source, Found>();
  for (const [at, passages] of answers.entries()) {
    for (const { text, passage, score } of passages) {
      const source = sources[text];
      if (!source || score < LEAST_SCORE) continue;
      const one = found.get(source) ?? { passages: new Set(), queries: new Set() };
      one.passages.add(passage);
      one.queries.add(queries[at] ?? '');
      found.set(source, one);
    }
  }
  const answered = new Set([...found.values()].flatMap((one) => [...one.queries]));
  return {
    summary:
      `${countNoun(queries.length, 'query', 'queries')} searched in ` +
      `${countNoun(new Set(sources).size, 'source')}; ${countNoun(found.size, 'source')} answered.`,
    results: [...found]
      .toSorted(([a], [b]) => sources.indexOf(a) - sources.indexOf(b))
      .map(([{ id, title }, one]) => ({
        source: id,
        title,
        passages: [...one.passages],
        queries: [...one.queries],
      })),
    without_result: queries.filter((query) => !answered.has(query)),
  };
}
