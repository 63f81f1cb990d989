import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { providerOptionsFor, takesSchema } from './adapters.ts';
import type { ModelConfig, ProviderConfig } from './config.ts';
import { dropTold } from './drop-told.ts';
import type { ModelId } from './model-id.ts';
import { toDialect } from './schema-dialect.ts';
import type { ModelMessage, ModelRequest } from './types.ts';

/** The request as an adapter takes it, and the property names to put back into its answer. */
type BuiltCall = {
  readonly options: LanguageModelV4CallOptions;
  readonly renamed: ReadonlyMap<string, string>;
};

/** Ends the stable part for providers that cache only what is marked. */
const CACHE_HERE: SharedV4ProviderOptions = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
};

/** Anthropic refuses a smaller budget. */
const LEAST_THINKING = 1_024;

/** Translates a request for a provider; pure. */
export function buildCall(
  request: ModelRequest,
  id: ModelId,
  provider: ProviderConfig,
  model: ModelConfig = {},
): BuiltCall {
  const told = request.messages[request.cacheablePrefixCount ?? 0]?.content ?? '';
  const dialect =
    request.schema && !request.continues && takesSchema(id, provider)
      ? toDialect(dropTold(request.schema.schema, told), request.schema.name, provider.kind)
      : null;
  const isClaude = provider.kind === 'anthropic';
  const most = request.maxOutputTokens ?? model.maxOutputTokens;
  const { extra, answer } = isClaude
    ? fitThinking(model.options, most)
    : { extra: model.options, answer: most };
  const options: LanguageModelV4CallOptions = {
    prompt: buildPrompt(request, isClaude),
    providerOptions: providerOptionsFor(provider, request.cacheKey, extra),
  };
  if (answer !== undefined) options.maxOutputTokens = answer;
  if (dialect && request.schema) {
    options.responseFormat = {
      type: 'json',
      name: request.schema.name,
      schema: dialect.schema as JSONSchema7,
    };
  }
  return { options, renamed: dialect?.renamed ?? new Map() };
}

/**
 * The adapter asks for the thinking on top of the answer; here both share what was set aside. The
 * answer keeps at least half; where that leaves too little to think with, there is no thinking.
 */
function fitThinking(extra: ModelConfig['options'], most: number | undefined) {
  const thinking = extra?.['thinking'];
  const { type, budgetTokens } = (thinking ?? {}) as { type?: unknown; budgetTokens?: unknown };
  if (most === undefined || type !== 'enabled') return { extra, answer: most };
  const wanted = typeof budgetTokens === 'number' ? budgetTokens : LEAST_THINKING;
  const budget = Math.min(wanted, Math.floor(most / 2));
  if (budget < LEAST_THINKING) {
    const { thinking: _left, ...rest } = extra!;
    return { extra: rest, answer: most };
  }
  const fitted = { ...(thinking as object), type, budgetTokens: budget };
  return { extra: { ...extra, thinking: fitted }, answer: most - budget };
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
