import type { Database } from '../db/database.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import { remoteEmbeddings } from '../models/remote-embeddings.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import { Slices } from '../platform/clock.ts';
import { mergeOverlays } from '../recipe/overlays.ts';
import type { PromptFacts } from '../recipe/render-prompt.ts';
import type { NewRun } from '../session/start.ts';
import { readProjectSources } from '../sources/project-sources.ts';
import { SourceSet } from '../sources/source-set.ts';
import { estimateRun } from './estimate-run.ts';
import { foreseeDocuments } from './foresee-calls.ts';
import type { EmbeddingFacts } from './foresee-embedding.ts';
import { gatherModelFacts, PLAIN_MODEL } from './model-facts.ts';
import { repetitionsIn } from './most-repetitions.ts';
import { createPromptMeter } from './prompt-meter.ts';
import { type RunHistory, readHistory } from './read-history.ts';
import type { Estimate } from './types.ts';

/** What a run would take, from its plan, its prompts and what finished runs have measured. */
export async function estimateNewRun(
  database: Database,
  tenantId: string,
  run: NewRun & { readonly projectId?: string | null },
  config: ModelsConfig,
  searchService: string | null = null,
): Promise<Estimate> {
  const counter = await loadTokenCounter();
  const count = (text: string): number => counter.count(PLAIN_MODEL, text);
  const { projectId = null } = run;
  const [history, sources] = await database.asTenant(tenantId, (tx) =>
    Promise.all([
      readHistory(tx, run.process.key, count),
      projectId === null ? new SourceSet() : readProjectSources(tx, projectId),
    ]),
  );
  return estimateFrom(history, sources, run, config, searchService);
}

/** The same without a store: from typical sizes alone, as for the first run in one. */
export const estimateFirstRun = (run: NewRun, config: ModelsConfig): Promise<Estimate> =>
  estimateFrom({ steps: [], models: [] }, new SourceSet(), run, config);

async function estimateFrom(
  history: RunHistory,
  sources: SourceSet,
  run: NewRun,
  config: ModelsConfig,
  searchService: string | null = null,
): Promise<Estimate> {
  const { process, models } = run;
  // A start makes sources of the reference documents, too.
  const references = (run.resources ?? []).flatMap(({ kind, name, text }) =>
    kind === 'reference_documents' ? [{ title: name, excerpts: [text] }] : [],
  );
  // Whatever else this process works on goes on meanwhile: a text of 9 MB takes half a second.
  const slices = new Slices();
  for (const draft of [...(run.sources ?? []), ...references]) {
    sources.admit(draft);
    await slices.rest();
  }
  const calls = foreseeDocuments(run);
  const findsSources = calls.some(({ step }) => step.compute === 'search');
  const counter = await loadTokenCounter();
  return estimateRun({
    process: process.key,
    calls,
    meter: createPromptMeter(process, { facts: factsOf(run), sources }, calls, counter),
    models: await gatherModelFacts(models, config, history, counter),
    measured: history.steps,
    searchService,
    repetitionsOf: repetitionsIn(process, models.length, sources.size > 0 || findsSources),
    embeddings: await findEmbeddings(models, config),
  });
}

/** By author, the model of a provider that embeds for it. */
async function findEmbeddings(
  models: readonly string[],
  config: ModelsConfig,
): Promise<ReadonlyMap<string, EmbeddingFacts>> {
  const found = new Map<string, EmbeddingFacts>();
  for (const author of models) {
    const model = remoteEmbeddings(config, author);
    if (model !== undefined) found.set(author, { model, price: await findPrice(model, config) });
  }
  return found;
}

/** What the prompts of the run will say about it. */
function factsOf(run: NewRun): PromptFacts {
  const { name, domain, brief, resources = [], process } = run;
  const texts: Record<string, string> = {};
  for (const { kind, text } of resources) {
    texts[kind] = Object.hasOwn(texts, kind) ? `${texts[kind]}\n\n${text}` : text;
  }
  return {
    userRequest: brief,
    iteration: 1,
    date: run.date ?? null,
    project: { name, domain: domain ?? '' },
    resources: texts,
    overlay: mergeOverlays({
      system: process.overlay,
      domain: process.domains[domain ?? ''],
      project: run.projectOverlay ?? undefined,
      session: run.overlay ?? undefined,
    }),
  };
}
