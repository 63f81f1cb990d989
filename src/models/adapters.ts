import type { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { EmbeddingModelV4, LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { DialecticError } from '../errors/errors.ts';
import type { SendHttp } from '../platform/http.ts';
import { VERSION } from '../platform/version.ts';
import { streamChat } from './chat-stream.ts';
import type { ProviderConfig, ProviderKind } from './config.ts';
import { resolveEndpoint } from './endpoint.ts';
import type { ModelId } from './model-id.ts';
import type { StreamingModel } from './run-call.ts';

/** Servers of one's own often want no key, but the adapters insist on one. */
const NO_KEY = 'none';

/** Claude models from before native structured output; they get the contract by prompt alone. */
const CLAUDE_WITHOUT_SCHEMA = /claude-(instant|2|3|(opus|sonnet)-4-(0|2025))/;

/**
 * Opens the AI SDK's model for an id. Its core package is left out: it parses, retries and warns
 * on its own, while a call here wants one request and the text as it came. Each provider's
 * package is loaded on first use (openai takes 90 ms).
 */
export async function openLanguageModel(
  id: ModelId,
  provider: ProviderConfig,
  fetch: SendHttp,
): Promise<LanguageModelV4> {
  const settings = settingsOf(id, provider, fetch);
  if (provider.kind === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const openai = createOpenAI(settings);
    return provider.api === 'chat' ? openai.chat(id.name) : openai.responses(id.name);
  }
  if (provider.kind === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic(settings)(id.name);
  }
  if (provider.kind === 'google') {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle(settings)(id.name);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    ...settings,
    name: id.provider,
    supportsStructuredOutputs: true,
  })(id.name);
}

/** Opens what streams the answers of a model: its adapter, or our own reader of chat completions. */
export async function openStream(
  id: ModelId,
  provider: ProviderConfig,
  fetch: SendHttp,
): Promise<StreamingModel> {
  if (provider.kind !== 'compatible') return openLanguageModel(id, provider, fetch);
  const { baseURL, apiKey, headers } = settingsOf(id, provider, fetch);
  const endpoint = {
    url: `${baseURL}/chat/completions`,
    headers: {
      authorization: `Bearer ${apiKey}`,
      'user-agent': `dialectic/${VERSION}`,
      ...lowerCased(headers),
    },
    fetch,
  };
  const chat = await openChat(id, provider);
  return {
    doStream: async (options) =>
      streamChat(await chat.prepareRequest(options), endpoint, options.abortSignal),
  };
}

type Chats = Pick<OpenAICompatibleChatLanguageModel, 'prepareRequest'>;

const chats = new WeakMap<ProviderConfig, Map<string, Chats>>();

/** What builds the requests to a model; it is kept, since it makes schemas of 0.3 ms at its start. */
async function openChat({ provider: name, name: model }: ModelId, provider: ProviderConfig) {
  const known = chats.get(provider) ?? new Map<string, Chats>();
  chats.set(provider, known);
  const found = known.get(model);
  if (found) return found;
  const { OpenAICompatibleChatLanguageModel: Chat } = await import('@ai-sdk/openai-compatible');
  const made = new Chat(model, {
    provider: `${name}.chat`,
    url: ({ path }) => path,
    headers: () => ({}),
    supportsStructuredOutputs: true,
  });
  known.set(model, made);
  return made;
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Opens the AI SDK's embedding model for an id. */
export async function openEmbeddingModel(
  id: ModelId,
  provider: ProviderConfig,
  fetch: SendHttp,
): Promise<EmbeddingModelV4> {
  const settings = settingsOf(id, provider, fetch);
  if (provider.kind === 'anthropic') {
    const message = `${id.provider} has no embedding models. Name another under "embeddings".`;
    throw new DialecticError('model_unknown', message, { details: { model: id.name } });
  }
  if (provider.kind === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI(settings).embeddingModel(id.name);
  }
  if (provider.kind === 'google') {
    const { createGoogle } = await import('@ai-sdk/google');
    return createGoogle(settings).embeddingModel(id.name);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ ...settings, name: id.provider }).embeddingModel(id.name);
}

function settingsOf(id: ModelId, provider: ProviderConfig, fetch: SendHttp) {
  const { baseUrl: baseURL, apiKey } = resolveEndpoint(id.provider, provider);
  return { baseURL, headers: provider.headers ?? {}, fetch, apiKey: apiKey ?? NO_KEY };
}

/** Whether a schema may be sent at all. */
export function takesSchema(id: ModelId, provider: ProviderConfig): boolean {
  if (provider.structuredOutputs !== undefined) return provider.structuredOutputs;
  return provider.kind !== 'anthropic' || !CLAUDE_WITHOUT_SCHEMA.test(id.name);
}

/**
 * Settings of ours for each adapter. Strict schemas are off, because strict mode wants every
 * property required, and contracts have optional sections. Claude gets the native output format,
 * never the tool in its place: with a tool the adapter holds text back until the end.
 */
export function providerOptionsFor(
  provider: ProviderConfig,
  cacheKey: string | undefined,
  extra: SharedV4ProviderOptions[string] = {},
): SharedV4ProviderOptions {
  const cache = cacheKey ? { promptCacheKey: cacheKey } : {};
  const all: Record<ProviderKind, SharedV4ProviderOptions> = {
    openai: { openai: { store: false, strictJsonSchema: false, ...cache, ...extra } },
    anthropic: { anthropic: { structuredOutputMode: 'outputFormat', ...extra } },
    google: { google: extra },
    compatible: { openaiCompatible: { strictJsonSchema: false, ...extra } },
  };
  return all[provider.kind];
}
