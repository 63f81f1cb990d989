import type { CarriedError } from './carried-error.ts';

/** The first line of every connection: who answers here. */
export type Greeting = {
  readonly version: string;
  readonly pid: number;
  /** Whether this process was opened with models, so that runs can be worked on through it. */
  readonly callsModels: boolean;
};

/** What the caller sends: one request for each connection. */
export type Request = {
  readonly method: string;
  readonly args: readonly unknown[];
  /** The options that are signals of the caller; they stay behind, and are told of by messages. */
  readonly signals: readonly string[];
};

/** What the caller may send while the request is under way: a signal of its was aborted. */
export type Abort = { readonly abort: string };

/** The signals of a caller by the names of their options. */
export type Signals = Readonly<Record<string, AbortSignal>>;

/**
 * What comes back: the value of a call; or the events of a stream and its end; or an error. A holder
 * that ends takes no new request, so that the caller can safely send it elsewhere.
 */
export type Reply =
  | { readonly kind: 'value'; readonly value?: unknown }
  | { readonly kind: 'event'; readonly event: unknown }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: CarriedError }
  | { readonly kind: 'closing' };
