import { DialecticError } from '../errors/errors.ts';
import { nearestName } from '../text/nearest-name.ts';
import type { ModelsConfig, ProviderConfig } from './config.ts';
import { resolveEndpoint } from './endpoint.ts';
import { type ModelId, parseModelId } from './model-id.ts';
import { parseOfflineName } from './offline/options.ts';
import { parseRecordedName } from './recorded/options.ts';

/** Throws for a model that no call could reach, so that a run says so before it begins. */
export function requireModels(models: readonly string[], config: ModelsConfig): void {
  const embeddings = config.embeddings === undefined ? [] : [config.embeddings];
  for (const model of [...models, ...embeddings]) {
    const id = parseModelId(model);
    if (id.provider === 'offline') parseOfflineName(id.name);
    else if (id.provider === 'recorded') {
      parseRecordedName(id.name);
      requireRecording(model, config.recording);
    } else resolveEndpoint(id.provider, requireProvider(id, config));
  }
}

/** What `recorded/…` answers from, which only `dialectic replay` can say. */
export function requireRecording<T>(model: string, recording: T | undefined): T {
  if (recording !== undefined) return recording;
  throw new DialecticError(
    'provider_not_configured',
    `${model} answers only in a replay: dialectic replay FOLDER begins it anew, at no cost.`,
    { details: { model } },
  );
}

/** The configuration of the provider that an id names. */
export function requireProvider({ provider: name }: ModelId, config: ModelsConfig): ProviderConfig {
  const provider = Object.hasOwn(config.providers, name) ? config.providers[name] : undefined;
  if (provider) return provider;
  const known = Object.keys(config.providers);
  const nearest = nearestName(name, known);
  throw new DialecticError(
    'provider_not_configured',
    `No provider "${name}"${nearest === undefined ? '.' : `; did you mean ${nearest}?`} ` +
      `Known are offline, recorded, ${known.join(', ')}.`,
    { details: { provider: name, known } },
  );
}
