import { type HideSecrets, hideFragments } from '../text/hide-fragments.ts';
import { hideWhole, type SecretFilter } from '../text/hide-whole.ts';
import type { ProviderConfig } from './config.ts';

type Credentials = Pick<ProviderConfig, 'apiKey' | 'headers' | 'baseUrl'>;

const hiders = new WeakMap<object, HideSecrets>();

/**
 * What hides the credentials of a provider in messages, ids and names, fragment by fragment. It must
 * see a text before anybody cuts it.
 */
export function secretsHider(provider: Credentials): HideSecrets {
  const known = hiders.get(provider);
  if (known) return known;
  const hider = hideFragments(secretsOf(provider));
  hiders.set(provider, hider);
  return hider;
}

/** What hides whole credentials in the text of an answer, which becomes a document. */
export const secretsFilter = (provider: Credentials): SecretFilter =>
  hideWhole(
    secretsOf(provider).filter((word) => word.length >= LEAST_RANDOM || looksRandom(word, 10)),
  );

/** What stands before a header's credential is none of the secret. */
const SCHEME = /^(?:basic|bearer|digest|token|api-?key|negotiate)$/i;

function secretsOf({ apiKey = '', headers = {}, baseUrl = '' }: Credentials): string[] {
  const user = /\/\/([^/?#@]*)@/.exec(baseUrl)?.[1] ?? '';
  const own = [apiKey, ...user.split(':')].flatMap(wordsOf);
  return [...own, ...Object.entries(headers).flatMap(([name, value]) => secretsIn(name, value))];
}

/** Parts of a header's name that say that its value is a credential. */
const SECRET_PARTS = new Set(['auth', 'authorization', 'key', 'pass', 'pat', 'session', 'sid']);
const SECRET_ENDING =
  /(?:apikey|token|secret|passwo?r?d|credentials?|cookie|jwt|bearer|signature)$/;

/**
 * The secrets in a header of the user's own. Its name decides where it says so; else only what cannot
 * be a word: `x-team: documentation` and `accept: application/json` would mangle messages.
 */
function secretsIn(name: string, value: string): string[] {
  const words = wordsOf(value);
  const parts = name.toLowerCase().split(/[-_]/);
  const isNamed = parts.some((part) => SECRET_PARTS.has(part) || SECRET_ENDING.test(part));
  const isSecret = isNamed || SCHEME.test(words[0] ?? '');
  if (!isSecret) return words.filter((word) => looksRandom(word));
  const secrets = words.filter((word) => !SCHEME.test(word));
  return /^basic$/i.test(words[0] ?? '') ? [...secrets, ...secrets.map(passwordOf)] : secrets;
}

/** The password in the base64 of `user:password`; a server that decoded it may repeat it. */
const passwordOf = (word: string): string =>
  Buffer.from(word, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '');

const wordsOf = (value: string): string[] => value.split(/[\s\p{Cc}]+/u).filter(Boolean);

const LEAST_RANDOM = 16;

/**
 * Whether a word was made by chance, as keys and UUIDs are: it has digits and changes between capital
 * letters, small ones and digits with at least every fourth character. Of random letters and digits
 * three in five do, of hexadecimal digits two in five, of names of models and versions one in eight.
 */
function looksRandom(word: string, least = LEAST_RANDOM): boolean {
  // No word of a language is so long.
  if (/[a-z\d]{24}/i.test(word)) return true;
  if (word.length < least || !/\d/.test(word)) return false;
  const changes = word.match(CHANGE)?.length ?? 0;
  return changes * 4 >= word.length;
}

const CHANGE = /[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g;
