import type { ProviderConfig } from './config.ts';

/** Gives a text back without the secrets of a provider. */
export type HideSecrets = (text: string) => string;

const HIDDEN = '[key]';
/** Shorter ones are placeholders (`none`), and words that a message needs. */
const SHORTEST_SECRET = 6;
/** So much of a secret's beginning is hidden too, where a server has cut the rest off. */
const SHORTEST_BEGINNING = 12;

/** JSON within JSON doubles the backslashes before a character; this is room for five times. */
const BACKSLASHES = 32;

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
  const words = values.flatMap((value) => value.split(/[\s\p{Cc}]+/u));
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

/** The text itself or its beginning, each character in any of the ways to write it. */
function patternOf(text: string): string {
  const characters = Array.from(text, characterPattern);
  const must = characters.slice(0, SHORTEST_BEGINNING).join('');
  const may = characters.slice(SHORTEST_BEGINNING).map((one) => `(?:${one})?`);
  return must + may.join('');
}

function characterPattern(character: string): string {
  const code = character.codePointAt(0)!;
  const bytes = [...Buffer.from(character)].map(hexDigits);
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const base64Url = { '+': '|-', '/': '|_' }[character] ?? '';
  const url = bytes.map((byte) => `%(?:25){0,3}${byte}`).join('');
  const json = `\\\\{1,${BACKSLASHES}}(?:u00|x)${hexDigits(code)}`;
  const html = `&#(?:${code}|[xX]0{0,4}${hexDigits(code)});`;
  // The escapes first: a plain backslash would take the one that begins an escape.
  return `(?:${url}|${json}|${html}|\\\\{0,${BACKSLASHES}}${plain}${base64Url})`;
}

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
