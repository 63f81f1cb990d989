import { lookup } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { codeOf, DialecticError, messageOf } from '../errors/errors.ts';
import { isOwnAddress, isPublicAddress } from './special-addresses.ts';
import { VERSION } from './version.ts';

/** The address of a host, as `dns.lookup` gives it. */
type HostAddress = { readonly address: string; readonly family: number };

/** What decides where a request may go. */
export type RequestGuard = {
  /**
   * Hosts on one's own network that may be asked all the same: `wiki.example` or `10.1.2.3:8080`. It
   * opens home and work networks, never link-local addresses and the secrets of clouds.
   */
  readonly allowPrivate?: readonly string[];
  /** How names become addresses; the resolver of the system. */
  readonly resolve?: (host: string) => Promise<readonly HostAddress[]>;
};

const resolveBySystem = (host: string): Promise<HostAddress[]> =>
  lookup(host, { all: true, verbatim: true });

/** The parsed address of a page, where it is one that may be asked at all. */
export function requireWebAddress(text: string): URL {
  if (!URL.canParse(text)) throw refuse(text, 'is no address');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(text, 'is no http or https address');
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse(`${url.protocol}//…@${url.host}`, 'holds a user name or password');
  }
  if (url.hostname === '') throw refuse(text, 'names no host');
  url.hash = '';
  return url;
}

/**
 * Sends one request without a body to the public internet and gives the head of the answer; it follows
 * no redirect. All addresses of the host are checked, and the connection is made to those that were
 * checked: a name that resolves to something else a moment later (DNS rebinding) gains nothing. It uses
 * neither proxies nor connections that were kept open.
 */
export async function sendGuarded(
  method: 'HEAD' | 'GET',
  url: URL,
  guard: RequestGuard,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const addresses = await checkedAddresses(url, guard, signal);
  const { request } = await (url.protocol === 'https:'
    ? import('node:https')
    : import('node:http'));
  const options: RequestOptions = {
    method,
    agent: false,
    signal,
    lookup: pinTo(addresses),
    headers: {
      accept: 'text/html, text/markdown, application/pdf, text/plain;q=0.9, */*;q=0.5',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': `dialectic/${VERSION}`,
    },
  };
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent: ClientRequest = request(url, options, resolve);
    sent.on('error', (error) => reject(explain(signal.aborted ? signal.reason : error, url)));
    // Without an error where the server wants to speak another protocol.
    sent.on('close', () => reject(unreachable(url, 'cut the connection')));
    sent.end();
  });
}

/** The addresses of a URL's host, all of which may be asked. */
async function checkedAddresses(
  url: URL,
  guard: RequestGuard,
  signal: AbortSignal,
): Promise<readonly HostAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses =
    family === 0 ? await resolveHost(host, url, guard, signal) : [{ address: host, family }];
  const isOpened = (guard.allowPrivate ?? []).some((one) => isHost(one, url));
  const wrong = addresses.find(
    ({ address }) => !isPublicAddress(address) && !(isOpened && isOwnAddress(address)),
  );
  if (wrong === undefined) return addresses;
  const named = family === 0 ? `leads to ${wrong.address}, which` : 'has an address that';
  throw refuse(url.href, `${named} is not on the public internet`);
}

async function resolveHost(
  host: string,
  url: URL,
  { resolve = resolveBySystem }: RequestGuard,
  signal: AbortSignal,
): Promise<readonly HostAddress[]> {
  // The system's resolver cannot be stopped, and must not be waited for longer than all the rest.
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    const found = await Promise.race([resolve(host), aborted.promise]);
    if (found.length === 0) throw unreachable(url, 'has a host without an address');
    return found;
  } catch (thrown) {
    throw explain(thrown, url);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const isHost = (allowed: string, { hostname, host }: URL): boolean =>
  [hostname, host].includes(allowed.toLowerCase()) ||
  hostname.replace(/\.$/, '') === allowed.toLowerCase();

/** Answers every question for an address with those that were checked. */
function pinTo(addresses: readonly HostAddress[]): LookupFunction {
  const [first] = addresses;
  return (_, { all }, done) => {
    if (all === true) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };
}

const refuse = (address: string, why: string): DialecticError =>
  new DialecticError('source_address_refused', `${address} ${why}.`, { details: { address } });

const unreachable = (url: URL, why: string, cause?: unknown): DialecticError =>
  new DialecticError('source_unreachable', `${url.href} ${why}.`, { cause });

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'cut the connection',
  ENOTFOUND: 'has an unknown host name',
  EAI_AGAIN: 'has a host name that cannot be looked up now',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'does not answer',
};

/** A fault of the network as one of ours, with the address that it is about. */
export function explain(thrown: unknown, url: URL): DialecticError {
  if (thrown instanceof DialecticError) return thrown;
  if (thrown instanceof Error && thrown.name === 'TimeoutError') {
    return unreachable(url, 'did not answer in time', thrown);
  }
  return unreachable(url, REASONS[codeOf(thrown)] ?? `failed (${messageOf(thrown)})`, thrown);
}
