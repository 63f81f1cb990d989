import type { DialecticError } from '../errors/errors.ts';

/** A JSON Schema as plain data; contracts come as YAML and are passed on unchanged. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** One turn of the conversation after the system instruction. */
export type ModelMessage = { readonly role: 'user' | 'assistant'; readonly content: string };

/** What the answer has to look like; `name` is `<stage>__<document_key>`. */
type OutputSchema = { readonly name: string; readonly schema: JsonSchema };

/** The place of a request in a debate: the same in every run of the same recipe and brief. */
export type CallSubject = {
  readonly stage: string;
  readonly documentKey: string;
  readonly iteration: number;
  /** The participant that writes, by its number from 1. */
  readonly lane: number;
  /** The participants whose work it responds to: the proposal's and, of a pair, the reviewer's. */
  readonly about: readonly number[];
  /** What earlier calls for the same document brought, in their order. */
  readonly before: readonly string[];
};

/** One request in the shape that every provider gets it from. */
export type ModelRequest = {
  /** `provider/model`, for example `openai/gpt-5` or `ollama/llama3.3`. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly schema?: OutputSchema;
  /**
   * The last turn asks to go on with a cut answer. Providers then get no schema: constrained
   * decoding would have to begin the object anew.
   */
  readonly continues?: boolean;
  readonly maxOutputTokens?: number;
  /** How many leading messages stay byte-identical between calls, for the provider's cache. */
  readonly cacheablePrefixCount?: number;
  /** Routes requests with a common prefix to one cache where the provider offers that. */
  readonly cacheKey?: string;
  /** Absent for what is not a document of a debate. No provider sends it anywhere. */
  readonly subject?: CallSubject;
};

/**
 * Why the text ended. `interrupted`: it was cut and what arrived is in `text`; `error`: the
 * provider itself says that the answer is spoilt.
 */
export type FinishReason = 'stop' | 'length' | 'content_filter' | 'interrupted' | 'error';

/** Tokens as the provider bills them; `inputTokens` includes the cached and the cache-written. */
export type TokenUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  /** True where the provider reported nothing, or what cannot be, and the counts are ours. */
  readonly estimated: boolean;
};

/** What the provider said beside the text, for the record. */
type RawResponse = {
  readonly finishReason: string | null;
  readonly responseId: string | null;
  readonly warnings: readonly string[];
};

/**
 * Who wrote an answer: a model now, a model in an earlier run, with what that cost then (null where
 * the price was unknown), or the offline author.
 */
export type AnswerOrigin =
  | { readonly kind: 'model' | 'offline' }
  | { readonly kind: 'recording'; readonly costMicros: number | null };

export type ModelResult = {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: TokenUsage;
  /** Why an `interrupted` or `error` answer ended early. */
  readonly error?: DialecticError;
  /** Absent for an answer that a model has just written. */
  readonly origin?: AnswerOrigin;
  readonly raw: RawResponse;
};

/** Texts to turn into vectors; the model is a `provider/model`. */
export type EmbeddingRequest = { readonly model: string; readonly texts: readonly string[] };

export type EmbeddingResult = {
  /** One for each text, in their order. */
  readonly vectors: readonly (readonly number[])[];
  /** Null where the provider reported nothing. */
  readonly inputTokens: number | null;
};

export type CallOptions = {
  readonly signal?: AbortSignal;
  readonly onDelta?: (text: string) => void;
  /** False asks for the whole answer at once; true is the default. */
  readonly stream?: boolean;
};

/** The one door to language models; it never retries: the job engine does. */
export interface ModelProvider {
  generate(request: ModelRequest, options?: CallOptions): Promise<ModelResult>;
  /** Absent where there are no vectors to be had. */
  embed?(
    request: EmbeddingRequest,
    options?: Pick<CallOptions, 'signal'>,
  ): Promise<EmbeddingResult>;
}
