import type { ProviderConfig } from './config.ts';

/** Gives a text back without the secrets of a provider. */
export type HideSecrets = (text: string) => string;

const HIDDEN = '[key]';
/** Shorter ones are placeholders (`none`), and words that a message needs. */
const SHORTEST_SECRET = 6;
/** So much of a secret's beginning is hidden too, where a server has cut the rest off. */
const SHORTEST_BEGINNING = 12;

type Credentials = Pick<ProviderConfig, 'apiKey' | 'headers' | 'baseUrl'>;

const hiders = new WeakMap<object, HideSecrets>();

/**
 * What hides the key and the header values of a provider, plain or as URLs, JSON, HTML, base64 and
 * hexadecimal digits write them. It must see a text before anybody cuts it: half a key at the cut
 * would not be known again.
 */
export function secretsHider(provider: Credentials): HideSecrets {
  const known = hiders.get(provider);
  if (known) return known;
  const hider = createHider(secretsOf(provider));
  hiders.set(provider, hider);
  return hider;
}

/** What stands before a header's credential is none of the secret. */
const SCHEME = /^(?:bearer|digest)$/i;

function secretsOf({ apiKey = '', headers = {}, baseUrl = '' }: Credentials): string[] {
  const user = /\/\/([^/?#@]*)@/.exec(baseUrl)?.[1] ?? '';
  const values = [apiKey, ...Object.values(headers), ...user.split(':')];
  // Backslashes at the beginning are no secret, and any number of them may stand before one.
  const words = values.flatMap((value) => value.split(/[\s\p{Cc}]+\\*|^\\+/u));
  return [...new Set(words)].filter((word) => word.length >= SHORTEST_SECRET && !SCHEME.test(word));
}

function createHider(secrets: readonly string[]): HideSecrets {
  if (secrets.length === 0) return (text) => text;
  const pattern = new RegExp(secrets.flatMap(patternsOf).join('|'), 'g');
  return (text) => text.replace(pattern, HIDDEN);
}

const patternsOf = (secret: string): string[] => [
  patternOf(secret),
  ...base64Of(secret).map(patternOf),
  [...Buffer.from(secret)].map(hexDigits).join(''),
];

/**
 * The text itself or its beginning, each character in any of the ways to write it. JSON within JSON
 * doubles the backslashes before a character, so that any number of them may stand there. Only one
 * part of the pattern can take those of a place, and at its beginning only the first of them begins
 * a match: otherwise the time for a text of nothing but backslashes would grow with its square.
 */
function patternOf(text: string): string {
  const [first = '', ...rest] = text.match(/\\+|[^\\]/gu) ?? [];
  const parts = rest.map((part, at) =>
    part.startsWith('\\')
      ? backslashPattern(part.length)
      : characterPattern(part, at > 0 && rest[at - 1]!.startsWith('\\') ? '' : '\\\\*'),
  );
  const must = parts.slice(0, SHORTEST_BEGINNING - 1).join('');
  const may = parts.slice(SHORTEST_BEGINNING - 1).map((one) => `(?:${one})?`);
  return `(?:(?<!\\\\)\\\\+)?${characterPattern(first, '')}${must}${may.join('')}`;
}

/** So many backslashes in a row, or more where JSON has doubled them. */
const backslashPattern = (count: number): string =>
  `(?:\\\\(?:(?:u00|x)5[cC])?|${urlPattern('\\')}|${htmlPattern(92)}){${count},}`;

/** A character that is no backslash; `quotes` takes the backslashes before it. */
function characterPattern(character: string, quotes: string): string {
  const code = character.codePointAt(0)!;
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const base64Url = { '+': '|-', '/': '|_' }[character] ?? '';
  const json = `(?<=\\\\)(?:u00|x)${hexDigits(code)}`;
  const written = `${quotes}(?:${json}|${plain}${base64Url})`;
  return `(?:${urlPattern(character)}|${htmlPattern(code)}|${written})`;
}

const urlPattern = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%(?:25){0,3}${hexDigits(byte)}`).join('');

const htmlPattern = (code: number): string => `&#(?:${code}|[xX]0{0,4}${hexDigits(code)});`;

const hexDigits = (byte: number): string =>
  byte
    .toString(16)
    .padStart(2, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

/**
 * What base64 makes of a secret inside of any text (`user:secret`), where it may begin at any of the
 * three bytes of a group. The digits at the ends that its neighbours share in are left out.
 */
function base64Of(secret: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const first = Math.ceil((before * 8) / 6);
    return bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
  });
}
