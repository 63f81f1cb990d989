import {
  APICallError,
  type JSONObject,
  JSONParseError,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  type SharedV4Warning,
  TypeValidationError,
} from '@ai-sdk/provider';
import { z } from 'zod';
import { DialecticError, messageOf } from '../errors/errors.ts';
import type { SendHttp } from '../platform/http.ts';
import { createEventSplitter } from './split-events.ts';

/** A request as the chat completions API takes it. */
type PreparedChat = { readonly body: object; readonly warnings: SharedV4Warning[] };

/** Where a chat is sent to. */
type ChatEndpoint = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: SendHttp;
};

type Part = LanguageModelV4StreamPart;

const count = z.number().nullish();
const chatUsage = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  prompt_tokens_details: z.looseObject({ cached_tokens: count }).nullish(),
  completion_tokens_details: z.looseObject({ reasoning_tokens: count }).nullish(),
});
const chatContent = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const chatEvent = z.object({
  id: z.string().nullish(),
  choices: z.array(
    z.object({
      delta: z
        .object({ content: chatContent.nullish(), refusal: z.unknown().optional() })
        .nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: chatUsage.nullish(),
});

/**
 * Streams one answer of the chat completions API, as the parts that a call reads. The AI SDK's reader
 * passes each event through five streams and makes its schema anew for each call: 2 ms of processor
 * time for a short answer in a young process, where this takes a quarter of that.
 */
export async function streamChat(
  { body, warnings }: PreparedChat,
  { url, headers, fetch }: ChatEndpoint,
  signal: AbortSignal | undefined,
): Promise<{ stream: AsyncIterable<Part> }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
    ...(signal && { signal }),
  }).catch((thrown: unknown) => {
    throw explainNetwork(thrown);
  });
  if (!response.ok) throw await readRefusal(response, url);
  if (!response.body) throw new DialecticError('provider_bad_response', 'The answer is empty.');
  return { stream: readParts(response.body, warnings) };
}

async function* readParts(
  body: ReadableStream<Uint8Array>,
  warnings: SharedV4Warning[],
): AsyncGenerator<Part> {
  yield { type: 'stream-start', warnings };
  const answer = createAnswer();
  const split = createEventSplitter();
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    for (const data of split(decoder.decode(bytes, { stream: true }))) {
      if (data !== '[DONE]') yield* answer.take(data);
    }
  }
  yield answer.end();
}

/** Makes parts of events, and remembers what the last part tells. */
function createAnswer() {
  let id: string | undefined;
  let finish: string | undefined;
  let usage: z.infer<typeof chatUsage> | undefined;
  let isRefusal = false;
  return {
    take(data: string): Part[] {
      const event = parseEvent(data);
      if ('fault' in event) return [{ type: 'error', error: event.fault }];
      const parts: Part[] = [];
      if (id === undefined && event.id) {
        id = event.id;
        parts.push({ type: 'response-metadata', id });
      }
      usage = event.usage ?? usage;
      const [choice] = event.choices;
      finish = choice?.finish_reason ?? finish;
      const { content, refusal } = choice?.delta ?? {};
      const refused = typeof refusal === 'string' ? refusal : '';
      isRefusal ||= refused !== '';
      const delta = textOf(content) + refused;
      if (delta !== '') parts.push({ type: 'text-delta', id: 'text', delta });
      return parts;
    },
    end(): Part {
      if (finish === undefined) return { type: 'error', error: endless() };
      const unified = toFinishReason(finish, isRefusal);
      return { type: 'finish', finishReason: { unified, raw: finish }, usage: toUsage(usage) };
    },
  };
}

function parseEvent(data: string): z.infer<typeof chatEvent> | { readonly fault: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    return { fault: new JSONParseError({ text: data, cause }) };
  }
  const said = (value as { error?: unknown } | null)?.error;
  if (said !== undefined && said !== null) return { fault: said };
  const { data: event, error: cause } = chatEvent.safeParse(value);
  return event ?? { fault: new TypeValidationError({ value, cause }) };
}

/** Some servers send a text in parts, with what the model thought among them. */
function textOf(content: z.infer<typeof chatContent> | null | undefined): string {
  if (!Array.isArray(content)) return content ?? '';
  return content
    .map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''))
    .join('');
}

const endless = (): DialecticError =>
  new DialecticError('provider_bad_response', 'The stream ended without a finish reason.');

function toFinishReason(raw: string, isRefusal: boolean): LanguageModelV4FinishReason['unified'] {
  if (raw === 'stop') return isRefusal ? 'content-filter' : 'stop';
  if (raw === 'length') return 'length';
  if (raw === 'content_filter') return 'content-filter';
  return raw === 'function_call' || raw === 'tool_calls' ? 'tool-calls' : 'other';
}

function toUsage(usage: z.infer<typeof chatUsage> | undefined): LanguageModelV4Usage {
  const total = usage && (usage.prompt_tokens ?? 0);
  const cacheRead = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  const written = usage && (usage.completion_tokens ?? 0);
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    inputTokens: { total, noCache: total && total - cacheRead, cacheRead, cacheWrite: undefined },
    outputTokens: { total: written, text: written && written - reasoning, reasoning },
    ...(usage && { raw: usage as JSONObject }),
  };
}

/** `fetch` itself says nothing but that it failed. */
function explainNetwork(thrown: unknown): unknown {
  const cause = thrown instanceof TypeError ? thrown.cause : undefined;
  if (cause === undefined) return thrown;
  return new Error(`Cannot connect to the API: ${messageOf(cause)}`, { cause });
}

const refusalBody = z.object({ error: z.object({ message: z.string() }) });

/** What a server says about a request that it did not take. */
async function readRefusal(response: Response, url: string): Promise<APICallError> {
  const { status, statusText, headers } = response;
  const responseBody = await response.text();
  return new APICallError({
    message: messageIn(responseBody) ?? statusText,
    url,
    requestBodyValues: {},
    statusCode: status,
    responseHeaders: Object.fromEntries(headers),
    responseBody,
  });
}

function messageIn(body: string): string | undefined {
  try {
    return refusalBody.safeParse(JSON.parse(body)).data?.error.message;
  } catch {
    return undefined; // a page of a proxy, for example: its status tells enough
  }
}
