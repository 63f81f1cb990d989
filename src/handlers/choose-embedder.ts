import type { Reading, Recollection } from '../context/rank-texts.ts';
import { rememberWith } from '../context/remember-with.ts';
import { findEmbedder } from '../context/sentence-embedder.ts';
import type { JobContext } from '../jobs/context.ts';
import { remoteEmbeddings } from '../models/remote-embeddings.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { type EmbeddingDemand, embeddingModel, rememberByCalls } from './remember-by-calls.ts';

/** What embeds for a request: the configured model by calls of the job, else one of this process. */
export function chooseEmbedder(
  deps: HandlerDeps,
  context: Pick<JobContext, 'job' | 'signal'>,
  { model: author, projectId, promptMicros }: EmbeddingDemand,
  reading: Reading = {},
): Pick<Recollection, 'embedder' | 'remember'> {
  const { database, config, embedder = findEmbedder() } = deps;
  const model = remoteEmbeddings(config, author);
  if (model === undefined) {
    const { tenantId } = context.job;
    const place = { database, tenantId, projectId };
    return { embedder, remember: rememberWith(place, embedder, reading) };
  }
  const remember = rememberByCalls(deps, context, { model, projectId, promptMicros }, reading);
  return { embedder: { model: embeddingModel(model, config) }, remember };
}
