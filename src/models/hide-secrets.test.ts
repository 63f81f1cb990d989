import { expect, test } from 'vitest';
import { secretsFilter, secretsHider } from './hide-secrets.ts';

const apiKey = 'sk-Qm4/+Zr"x\\9=Lw0vT3hNdK';
const hide = secretsHider({ apiKey });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const entities = Array.from(apiKey).map(
  (character) => `&#x${character.charCodeAt(0).toString(16)};`,
);
const escapeOf = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`;
const escapes = Array.from(apiKey, escapeOf);

const quoteAgain = (text: string): string => JSON.stringify(text).slice(1, -1);

test.each([
  ['plain', apiKey],
  ['in a URL', encodeURIComponent(apiKey)],
  ['in a URL, in lower case', encodeURIComponent(apiKey).replace(/%../g, (at) => at.toLowerCase())],
  ['in a URL within a URL', encodeURIComponent(encodeURIComponent(apiKey))],
  ['in JSON', JSON.stringify(apiKey).slice(1, -1)],
  ['in JSON within JSON', JSON.stringify(JSON.stringify(apiKey)).slice(3, -3)],
  ['in JSON within JSON within JSON', quoteAgain(quoteAgain(quoteAgain(apiKey)))],
  ['in JSON as escapes', escapes.join('')],
  ['in HTML', entities.join('')],
  ['in hexadecimal digits', Buffer.from(apiKey).toString('hex').toUpperCase()],
])('hides a key %s', (_, written) => {
  expect(hide(`refused: ${written} is wrong`)).toBe('refused: [key] is wrong');
});

test.each(['', 'u:', 'us:', 'user:'])('hides a key in the base64 of %jKEY', (before) => {
  const written = base64(`${before}${apiKey}`);
  const left = hide(`Basic ${written}`).replace('[key]', '');
  expect(left.length).toBeLessThan('Basic '.length + before.length * 2 + 4);
  expect(hide(Buffer.from(`${before}${apiKey}`).toString('base64url'))).toContain('[key]');
});

test('hides the beginning of a key whose rest a server cut off', () => {
  expect(hide(`refused: ${apiKey.slice(0, 16)}`)).toBe('refused: [key]');
});

test('hides header values without their scheme, and the user of an address', () => {
  const hideAll = secretsHider({
    headers: { authorization: 'Bearer header-secret-1' },
    baseUrl: 'http://user-name:pass-word-1@127.0.0.1/v1',
  });
  expect(hideAll('Bearer header-secret-1 of user-name and pass-word-1')).toBe(
    'Bearer [key] of [key] and [key]',
  );
});

test('leaves words alone that a placeholder for a key is made of', () => {
  expect(secretsHider({ apiKey: 'none' })('none of them')).toBe('none of them');
});

test.each([
  ['its middle', (key: string) => key.slice(10, 19)],
  ['its end', (key: string) => key.slice(-8)],
  ['in capital letters', (key: string) => key.toUpperCase()],
  ['in small letters', (key: string) => key.toLowerCase()],
  ['with both exchanged', exchangeCase],
  ['its middle as a URL writes it', (key: string) => encodeURIComponent(key.slice(4, 14))],
  ['with characters between that show nothing', (key: string) => Array.from(key).join('\u200b')],
  ['with variation selectors between', (key: string) => Array.from(key).join('\ufe0f')],
  ['the middle of its base64', (key: string) => base64(key).slice(8, 20)],
])('hides of a key %s', (_, part) => {
  expect(hide(`refused: ${part(apiKey)} is wrong`)).toBe('refused: [key] is wrong');
});

function exchangeCase(text: string): string {
  const exchange = (one: string): string =>
    one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase();
  return Array.from(text, exchange).join('');
}

test('leaves what all keys of a provider begin with, alone, and hides it before a key', () => {
  const hideKey = secretsHider({ apiKey: 'sk-ant-api03-Qm4Zr9Lw0vT3hNdK' });
  expect(hideKey('A key begins with sk-ant-api03-.')).toBe('A key begins with sk-ant-api03-.');
  expect(hideKey('It is sk-ant-api03-Qm4Zr.')).toBe('It is [key].');
});

test('leaves the words of headers alone that are no credential', () => {
  const headers = {
    'x-team': 'documentation',
    accept: 'application/json',
    'anthropic-beta': 'prompt-caching-2024-07-31',
    'x-model': 'llama3.1-8b-instruct-q4_K_M',
    'x-trace': 'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    'x-lab-token': 'correct-horse',
    'proxy-authorization': `Basic ${base64('user:battery-staple')}`,
    'x-gateway': 'ApiKey another-secret',
  };
  const hideAll = secretsHider({ headers });
  const message =
    'The documentation of application/json for prompt-caching-2024-07-31 and llama3.1-8b-instruct.';
  expect(hideAll(message)).toBe(message);
  const secrets = 'f47ac10b-58cc-4372 correct-horse battery-staple another-secret ApiKey';
  expect(hideAll(secrets)).toBe('[key] [key] [key] [key] ApiKey');
});

test.each([1, 3, 1_000])('hides a whole key alone in a text of pieces of %i', (size) => {
  const long = 'sk-documentation-Qm4Zr9Lw0vT3hNdK';
  const filter = secretsFilter({ apiKey: long, headers: { 'x-token': 'documentation' } });
  const text =
    `The documentation (${long}, ${long.toUpperCase()}, ${base64(long)}) ` +
    `has ${long.slice(0, 20)} and ${long.slice(4)}; ${long.slice(0, 9)}`;
  const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  const shown = pieces.map((piece) => filter.push(piece)).join('') + filter.flush();
  expect(shown).toBe(
    `The documentation ([key], [key], [key]) ` +
      `has ${long.slice(0, 20)} and ${long.slice(4)}; ${long.slice(0, 9)}`,
  );
});

const backslashes = (count: number): string => '\\'.repeat(count);

test('hides a key with backslashes at its beginning and in its middle, however often quoted', () => {
  const slashed = `${backslashes(2)}sk-Qm4${backslashes(3)}"Zr9Lw0vT3hNdK`;
  const hideSlashed = secretsHider({ apiKey: slashed });
  const quoted = Array.from({ length: 6 }).reduce<string>(quoteAgain, slashed);
  for (const one of [slashed, quoted]) expect(hideSlashed(`is ${one}`)).toBe('is [key]');
  expect(hideSlashed(Array.from(slashed, escapeOf).join(''))).toBe('[key]');
  expect(hideSlashed(encodeURIComponent(slashed))).toBe('[key]');
});

test.each([
  ['alone', ''],
  ['after the beginning of the key', 'sk-Qm4'],
])('takes time in proportion to a text of backslashes %s', (_, before) => {
  for (const apiKey of ['sk-Qm4/+Zr"x9=Lw0vT', `sk-Qm4${backslashes(11)}Zr9Lw0vT3hNdK`]) {
    const hideIt = secretsHider({ apiKey });
    const text = before + backslashes(1_000_000);
    const started = performance.now();
    expect(hideIt(text)).toBe(text);
    // It takes 0.2 s; a time that grows with the square of the length would take many minutes.
    expect(performance.now() - started).toBeLessThan(10_000);
  }
});
