import type { IncomingMessage } from 'node:http';
import { DialecticError } from '../errors/errors.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../models/circuit-breaker.ts';
import { elapsedMs } from '../platform/clock.ts';
import { type RequestGuard, requireWebAddress, sendGuarded } from '../platform/guarded-request.ts';
import { monitor } from '../platform/performance-monitor.ts';
import { countNoun } from '../text/count-noun.ts';
import { readBody } from './read-body.ts';
import { MOST_BYTES } from './read-bytes.ts';

/** How pages are fetched. */
export type FetchOptions = RequestGuard & {
  /** The largest page that is taken, in bytes after decompression; 10 MB. */
  readonly maxBytes?: number;
  /** How long a page may take from its first request to its last byte; 30 s. */
  readonly fetchMs?: number;
  readonly signal?: AbortSignal;
  /** Milliseconds for the circuit breakers. */
  readonly nowMs?: () => number;
};

/** A page as it was fetched. */
export type FetchedPage = {
  /** Where it was found in the end. */
  readonly url: string;
  /** Whether each redirect to it was permanent. */
  readonly isMoved: boolean;
  readonly contentType: string;
  readonly bytes: Buffer;
};

const MOST_REDIRECTS = 5;
const MOST_MS = 30_000;
const BREAKER = { failures: 3, coolMs: 10_000, maxCoolMs: 60_000 };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const PERMANENT = new Set([301, 308]);
/** Types of which no text can be made; they are not downloaded. */
const NO_TEXT = /^(?:image|audio|video|font)\//i;

/**
 * Fetches pages: HEAD, then GET, at most five redirects for each of which all rules hold anew, and a
 * circuit breaker for each host, which is opened by three failures in a row.
 */
export class PageFetcher {
  readonly #options: FetchOptions;
  readonly #breakers = new Map<string, CircuitBreaker>();

  constructor(options: FetchOptions = {}) {
    this.#options = options;
  }

  /** Fetches a page; the monitor of the process notes how long it took. */
  fetch(address: string): Promise<FetchedPage> {
    return monitor.time('fetch', () => this.#fetch(address));
  }

  async #fetch(address: string): Promise<FetchedPage> {
    const deadline = AbortSignal.timeout(this.#options.fetchMs ?? MOST_MS);
    const { signal = deadline } = this.#options;
    const until = AbortSignal.any([deadline, signal]);
    const start = { url: requireWebAddress(address), isMoved: true };
    const head = await this.#follow('HEAD', start, until);
    head.response.destroy();
    this.#requireWanted(head);
    const found = await this.#follow('GET', head, until);
    requireSuccess(found);
    this.#requireWanted(found);
    const bytes = await this.#guarded(found.url, () =>
      readBody(found.response, found.url, this.#options.maxBytes ?? MOST_BYTES, until),
    );
    return {
      url: found.url.href,
      isMoved: found.isMoved && found.url.href !== start.url.href,
      contentType: found.response.headers['content-type'] ?? '',
      bytes,
    };
  }

  /** Follows redirects to the answer behind them. */
  async #follow(method: 'HEAD' | 'GET', from: Hop, signal: AbortSignal): Promise<Answer> {
    let { url, isMoved } = from;
    for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
      const response = await this.#guarded(url, () => this.#ask(method, url, signal));
      const { location } = response.headers;
      if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined) {
        return { url, isMoved, response };
      }
      response.destroy();
      url = redirected(location, url);
      isMoved &&= PERMANENT.has(response.statusCode ?? 0);
    }
    throw new DialecticError(
      'source_unreachable',
      `${from.url.href} redirects more than ${MOST_REDIRECTS} times.`,
    );
  }

  /**
   * Sends one request. A host that fails or wants to be left alone is a failure; that it knows no HEAD,
   * or refuses it, is none: some answer 403, 404, 405 or 501 to HEAD and have the page.
   */
  async #ask(method: 'HEAD' | 'GET', url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const response = await sendGuarded(method, url, this.#options, signal);
    const status = response.statusCode ?? 0;
    const isFailing = status >= 500 || status === 429;
    if (isFailing && !(method === 'HEAD' && status === 501)) requireSuccess({ url, response });
    return response;
  }

  /** Asks a host unless it failed too often; a refusal of our own tells nothing of the host. */
  async #guarded<T>({ host }: URL, ask: () => Promise<T>): Promise<T> {
    const breaker = this.#breakers.get(host) ?? createCircuitBreaker(host, this.#nowMs, BREAKER);
    this.#breakers.set(host, breaker);
    breaker.enter();
    try {
      const answer = await ask();
      breaker.succeed();
      return answer;
    } catch (thrown) {
      if (thrown instanceof DialecticError && thrown.code === 'source_unreachable') breaker.fail();
      else breaker.leave();
      throw thrown;
    }
  }

  readonly #nowMs = (): number => (this.#options.nowMs ?? elapsedMs)();

  /** Spares the download of what would be refused behind it. */
  #requireWanted({ url, response }: Pick<Answer, 'url' | 'response'>): void {
    if ((response.statusCode ?? 0) >= 300) return;
    const most = this.#options.maxBytes ?? MOST_BYTES;
    const { 'content-length': length = '0', 'content-type': type = '' } = response.headers;
    if (Number(length) > most) {
      response.destroy();
      const message = `${url.href} has more than ${countNoun(most, 'byte')}.`;
      throw new DialecticError('file_too_large', message);
    }
    if (NO_TEXT.test(type)) {
      response.destroy();
      const what = type.split(';', 1)[0] ?? '';
      throw new DialecticError('source_unreadable', `${url.href} is ${what}, which holds no text.`);
    }
  }
}

type Hop = { readonly url: URL; readonly isMoved: boolean };
type Answer = Hop & { readonly response: IncomingMessage };

function redirected(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href)) {
    const message = `${from.href} redirects to what is no address.`;
    throw new DialecticError('source_unreachable', message);
  }
  try {
    return requireWebAddress(new URL(location, from).href);
  } catch (thrown) {
    if (!(thrown instanceof DialecticError)) throw thrown;
    const message = `${from.href} redirects elsewhere: ${thrown.message}`;
    throw new DialecticError(thrown.code, message, { cause: thrown });
  }
}

function requireSuccess({ url, response }: Pick<Answer, 'url' | 'response'>): void {
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return;
  response.destroy();
  const code = status === 404 || status === 410 ? 'source_gone' : 'source_unreachable';
  throw new DialecticError(code, `${url.href} answered with status ${status}.`, {
    details: { status },
  });
}
