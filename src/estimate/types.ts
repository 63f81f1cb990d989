import type { ModelPrice } from '../models/prices.ts';
import type { ModelWindow } from '../models/windows.ts';
import type { ForeseenCall } from './foresee-calls.ts';

/** What it may come to: at least, most likely, and at most unless something is out of order. */
export type Range = { readonly low: number; readonly middle: number; readonly high: number };
export type Scenario = keyof Range;

/** Calls, tokens and money of a run or of a part of it. */
export type Amounts = {
  readonly calls: Range;
  readonly inputTokens: Range;
  readonly outputTokens: Range;
  /** Null where the price of a model in it is unknown. */
  readonly costUsd: Range | null;
};

/** Part of the amounts: what comes on top of one call for each document. */
export type Addition = Pick<Amounts, 'calls' | 'inputTokens' | 'outputTokens'>;

/** A document whose prompt has to be shortened for a model, in all calls for it. */
export type ShortenedPrompt = {
  readonly stage: string;
  readonly document: string;
  readonly model: string;
  readonly calls: number;
  /** Tokens of the longest of the prompts, and how many a request to the model may have. */
  readonly tokens: number;
  readonly room: number;
};

/** What a run will take, said before it starts. */
export type Estimate = Amounts & {
  readonly process: string;
  /** What the planners will ask for; each takes one call at least. */
  readonly documents: number;
  readonly stages: readonly (Amounts & { readonly stage: string; readonly name: string })[];
  readonly models: readonly (Amounts & { readonly model: string })[];
  readonly parts: readonly (Amounts & { readonly stage: string; readonly model: string })[];
  readonly additions: {
    /** Answers that are longer than the model writes at once. */
    readonly continuation: Addition;
    /** Answers that have to be asked for again. */
    readonly repetition: Addition;
    /** Prompts that do not fit into the window, and the tokens that have to go. */
    readonly compression: {
      readonly calls: Range;
      readonly removedTokens: Range;
      /** Which documents' prompts, for which model; only those that are likely to be too long. */
      readonly documents: readonly ShortenedPrompt[];
      /**
       * What a provider takes to embed their texts: part of the sums of the run, and of no stage or
       * model. Null where none does.
       */
      readonly embedding: {
        readonly model: string;
        readonly tokens: Range;
        /** Null where the price is unknown. */
        readonly costUsd: Range | null;
      } | null;
    };
  };
  /**
   * Searches of the web at list price: part of the cost of the run, and of no stage or model. Null where
   * none is made, or they are free.
   */
  readonly searches: {
    readonly service: string;
    readonly count: Range;
    readonly costUsd: Range;
  } | null;
  /** Models without a known price; their tokens are counted. */
  readonly unpriced: readonly string[];
  /** How many documents of finished runs the sizes were learned from. */
  readonly learnedDocuments: number;
};

/** A prompt in tokens of the tokenizer: what is fixed, and documents of the expected size. */
export type PromptParts = {
  readonly frameTokens: number;
  /** The output schema, which some providers count as input. */
  readonly schemaTokens: number;
  readonly inputs: readonly {
    /** Identity of the job that writes it; null for what is there before the run. */
    readonly from: string | null;
    readonly tokens: number;
  }[];
};

/** Measures requests that do not exist yet. */
export interface PromptMeter {
  measurePrompt(call: ForeseenCall): PromptParts;
  /** The answer of the expected size, laid out as models do and as plain JSON. */
  measureAnswer(call: ForeseenCall): { readonly tokens: number; readonly contentTokens: number };
}

/** What finished runs tell about one step and one model. */
export type MeasuredStep = {
  readonly stage: string;
  readonly step: string;
  readonly model: string;
  readonly documents: number;
  /** Billed output for one whole answer. */
  readonly outputTokens: number;
  /** The document as plain JSON in tokens of the tokenizer, however its answer was laid out. */
  readonly contentTokens: number;
};

/** What is known about a model before it is called. */
export type ModelFacts = {
  readonly price: ModelPrice | null;
  readonly window: ModelWindow;
  /** Its tokens for one of the tokenizer. */
  readonly tokenFactor: Range;
  /** Whether finished runs have shown that factor, over requests with their schemas. */
  readonly isLearned: boolean;
  /** How often a document had to be asked for again; null without history. */
  readonly repairRate: number | null;
  /** The part of its input that was read from the provider's cache; null likewise. */
  readonly cachedShare: number | null;
};
