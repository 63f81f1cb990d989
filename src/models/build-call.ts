import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { providerOptionsFor, takesSchema } from './adapters.ts';
import type { ModelConfig, ProviderConfig } from './config.ts';
import type { ModelId } from './model-id.ts';
import { toDialect } from './schema-dialect.ts';
import type { ModelMessage, ModelRequest } from './types.ts';

/** The request as an adapter takes it, and the property names to put back into its answer. */
export type BuiltCall = {
  readonly options: LanguageModelV4CallOptions;
  readonly renamed: ReadonlyMap<string, string>;
};

/** Ends the stable part for providers that cache only what is marked. */
const CACHE_HERE: SharedV4ProviderOptions = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
};

/** Translates a request for a provider; pure. */
export function buildCall(
  request: ModelRequest,
  id: ModelId,
  provider: ProviderConfig,
  model: ModelConfig = {},
): BuiltCall {
  const dialect =
    request.schema && takesSchema(id, provider)
      ? toDialect(request.schema.schema, request.schema.name, provider.kind)
      : null;
  const options: LanguageModelV4CallOptions = {
    prompt: buildPrompt(request, provider.kind === 'anthropic'),
    providerOptions: providerOptionsFor(provider, request.cacheKey, model.options),
  };
  const most = request.maxOutputTokens ?? model.maxOutputTokens;
  if (most !== undefined) options.maxOutputTokens = most;
  if (dialect && request.schema) {
    options.responseFormat = {
      type: 'json',
      name: request.schema.name,
      schema: dialect.schema as JSONSchema7,
    };
  }
  return { options, renamed: dialect?.renamed ?? new Map() };
}

function buildPrompt(request: ModelRequest, marked: boolean): LanguageModelV4Message[] {
  const stable = request.cacheablePrefixCount ?? 0;
  const hint = (isLast: boolean): { providerOptions?: SharedV4ProviderOptions } =>
    marked && isLast ? { providerOptions: CACHE_HERE } : {};
  const turns = request.messages.map((message, index) => ({
    ...toPart(message),
    ...hint(index === stable - 1),
  }));
  if (request.system === '') return turns;
  return [{ role: 'system', content: request.system, ...hint(true) }, ...turns];
}

function toPart({ role, content }: ModelMessage): LanguageModelV4Message {
  return { role, content: [{ type: 'text', text: content }] };
}
