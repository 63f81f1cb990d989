import type { IncomingMessage, ServerResponse } from 'node:http';
import { DONE, delta, event, send } from './answer-events.ts';

/** A key of every sign that somebody writes in another way. */
export const CANARY = 'sk-Qm4/+Zr"x\\9=Lw0vT3hNdK7fYbC';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');

const exchangeCase = (text: string): string =>
  Array.from(text, (one) =>
    one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase(),
  ).join('');

/** The ways in which a server may repeat a key, or a part of it. */
const WRITINGS: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => encodeURIComponent(key),
  (key) => JSON.stringify(JSON.stringify(key)),
  (key) => base64(key),
  (key) => base64(`u:${key}`),
  (key) => base64(`user:${key}`),
  (key) => hex(key),
  (key) => Array.from(key).join('\0'),
  (key) =>
    Array.from(key)
      .map((character) => `&#${character.charCodeAt(0)};`)
      .join(''),
  (key) => key.toUpperCase(),
  (key) => key.toLowerCase(),
  exchangeCase,
  (key) => key.slice(14, 22),
  (key) => `...${key.slice(-9)}`,
  (key) => `${key.slice(0, 9)}***${key.slice(15)}`,
  (key) => key.slice(13).toUpperCase(),
  (key) => encodeURIComponent(encodeURIComponent(key.slice(3, 16))).toLowerCase(),
  (key) => base64(key).replaceAll('+', '-').replaceAll('/', '_').slice(4, 20),
  (key) => hex(key).slice(8, 44).toUpperCase(),
  (key) => Array.from(key).join('\u200b'),
  (key) => JSON.stringify({ key: { is: [key, key.slice(16)] } }),
];

const json = { 'content-type': 'application/json' };
const refuse = (response: ServerResponse, status: number, message: string): void =>
  send(response, [JSON.stringify({ error: { message, type: 'x', code: message } })], json, status);

/** Where a server may repeat it; the messages are cut at 500 characters. */
const PLACES: readonly ((response: ServerResponse, said: string, n: number) => void)[] = [
  (response, said) => refuse(response, 503, `Wrong key: ${said}.`),
  (response, said, n) => refuse(response, 503, `${'x'.repeat(500 - (n % said.length))}${said}`),
  (response, said) => send(response, [event({ error: { message: said, type: said } })]),
  (response, said) => send(response, [said], { 'content-type': 'text/html' }, 502),
  (response, said) =>
    send(response, ['<html>'], { 'content-type': `text/html; ${encodeURIComponent(said)}` }),
  (response, said) => send(response, [event({ id: said, choices: [] }), DONE]),
  (response, said) => send(response, [event({ id: `${'x'.repeat(190)}${said}` }), delta(' ')]),
  (response, said) => send(response, [`data: ${said}\n\n`]),
  (response, said) => void response.writeHead(502, encodeURIComponent(said)).end(),
  (response, said) => send(response, [delta('', said), DONE]),
  (response, said) =>
    send(response, ['{}'], { ...json, 'retry-after': `1 ${encodeURIComponent(said)}` }, 503),
];

/** Answers the n-th request with the key that it came with, always as a failure. */
export function repeatKey(request: IncomingMessage, response: ServerResponse, n: number): void {
  const write = WRITINGS[n % WRITINGS.length]!;
  PLACES[n % PLACES.length]!(response, write(keyOf(request)), n);
}

/** So many requests have every writing in every place, since the two numbers have no divisor. */
export const ALL_REPETITIONS = WRITINGS.length * PLACES.length;

export const keyOf = ({ headers }: IncomingMessage): string =>
  String(headers.authorization ?? headers['x-subscription-token'] ?? '').replace('Bearer ', '');

/** The key in all writings. */
export const writingsOf = (key: string): string[] => WRITINGS.map((write) => write(key));

/** Eight characters are of a key; of hexadecimal digits they are but four, and of `%2f%2b` three. */
const WINDOW = 8;

/**
 * Every run of eight characters of the canary, in lower case, and of every writing that a reader could
 * undo. The canary's backslash is left out as in the texts that are searched.
 */
const FRAGMENTS: readonly string[] = [
  [CANARY.replace('\\', ''), WINDOW] as const,
  [encodeURIComponent(CANARY), 2 * WINDOW] as const,
  [hex(CANARY), 2 * WINDOW] as const,
  ...['', 'u', 'us'].map((before) => [base64(before + CANARY).slice(4, -4), WINDOW] as const),
].flatMap(([text, size]) =>
  Array.from({ length: text.length - size + 1 }, (_, at) =>
    text.slice(at, at + size).toLowerCase(),
  ),
);

/** The fragments of the canary that a text holds, whatever quoted it meanwhile, in any case. */
export function findFragments(text: string): string[] {
  const read = text.replaceAll('\\', '').toLowerCase();
  return FRAGMENTS.filter((fragment) => read.includes(fragment));
}

/** The same for the raw files of a database: a fifth of the fragments, since they are large. */
export function findInBytes(bytes: Buffer): string[] {
  const read = bytes.toString('latin1').toLowerCase();
  return FRAGMENTS.filter((fragment, n) => n % 5 === 0 && read.includes(fragment));
}
