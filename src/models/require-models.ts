import { DialecticError } from '../errors/errors.ts';
import type { ModelsConfig, ProviderConfig } from './config.ts';
import { resolveEndpoint } from './endpoint.ts';
import { type ModelId, parseModelId } from './model-id.ts';
import { parseOfflineName } from './offline/options.ts';

/** Throws for a model that no call could reach, so that a run says so before it begins. */
export function requireModels(models: readonly string[], config: ModelsConfig): void {
  for (const model of models) {
    const id = parseModelId(model);
    if (id.provider === 'offline') parseOfflineName(id.name);
    else resolveEndpoint(id.provider, requireProvider(id, config));
  }
}

/** The configuration of the provider that an id names. */
export function requireProvider({ provider: name }: ModelId, config: ModelsConfig): ProviderConfig {
  const provider = Object.hasOwn(config.providers, name) ? config.providers[name] : undefined;
  if (provider) return provider;
  const known = Object.keys(config.providers);
  throw new DialecticError(
    'provider_not_configured',
    `No provider "${name}"; known are offline, ${known.join(', ')}.`,
    { details: { provider: name, known } },
  );
}
