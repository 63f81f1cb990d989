import type { ErrorCode } from '../errors/error-codes.ts';
import { DialecticError } from '../errors/errors.ts';

/** What a header can carry: an error of the HTTP client would repeat anything else in full. */
const KEY = /^[\x21-\x7e]+$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const LONGEST_KEY = 8_000;

/** Refuses a key that no request can carry. Messages name where it comes from, never the value. */
export function checkKey(source: string, key: string): void {
  if (key.length > LONGEST_KEY) {
    throw refuse('provider_key_malformed', source, `has ${key.length} characters`);
  }
  if (KEY.test(key)) return;
  const at = Array.from(key).findIndex((character) => !KEY.test(character)) + 1;
  const what = `holds a line break, a space or a character outside of ASCII at place ${at}`;
  throw refuse('provider_key_malformed', source, what);
}

/** The same for headers of the user's own. */
export function checkHeaders(source: string, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) {
      throw refuse('provider_key_malformed', source, 'holds a name that is none for a header');
    }
    if (HEADER_VALUE.test(value)) continue;
    const what = 'holds a line break or a character outside of ASCII';
    throw refuse('provider_key_malformed', `${source}.${name}`, what);
  }
}

/**
 * Refuses what is no address of an API. A password or key in it would reach whatever prints the
 * address, and behind a `?` the paths of the API would become a part of the query.
 */
export function checkBaseUrl(source: string, baseUrl: string): void {
  const url = URL.parse(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol) || /\p{Cc}/u.test(baseUrl)) {
    throw refuse('base_url_invalid', source, 'is no http(s) address');
  }
  if (url.username || url.password) {
    throw refuse('base_url_invalid', source, 'holds a user name or password');
  }
  if (url.search || url.hash) {
    throw refuse('base_url_invalid', source, 'holds a query or fragment (? or #)');
  }
}

const refuse = (code: ErrorCode, source: string, problem: string): DialecticError =>
  new DialecticError(code, `${source} ${problem}.`, { details: { source } });
