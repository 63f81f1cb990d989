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
};

/** What the caller may send while the request is under way: its signal was aborted. */
export type Abort = { readonly abort: true };

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
