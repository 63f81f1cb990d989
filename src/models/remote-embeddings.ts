import type { ModelsConfig } from './config.ts';
import { parseModelId } from './model-id.ts';

/** Authors that call no provider; what is fitted for them calls none either. */
const WITHOUT_PROVIDER = ['offline', 'recorded'];

/** The configured embedding model, unless the author calls no provider. */
export const remoteEmbeddings = (
  { embeddings }: Pick<ModelsConfig, 'embeddings'>,
  author: string,
): string | undefined =>
  WITHOUT_PROVIDER.includes(parseModelId(author).provider) ? undefined : embeddings;
