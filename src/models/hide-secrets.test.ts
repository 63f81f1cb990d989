import { expect, test } from 'vitest';
import { secretsHider } from './hide-secrets.ts';

const apiKey = 'sk-Qm4/+Zr"x\\9=Lw0vT3hNdK';
const hide = secretsHider({ apiKey });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const entities = Array.from(apiKey).map(
  (character) => `&#x${character.charCodeAt(0).toString(16)};`,
);
const escapes = Array.from(apiKey).map(
  (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
);

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
