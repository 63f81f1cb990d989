import type { IncomingMessage, ServerResponse } from 'node:http';
import { DONE, delta, event, send } from './answer-events.ts';

/** A key of every sign that somebody writes in another way. */
export const CANARY = 'sk-Qm4/+Zr"x\\9=Lw0vT3hNdK7fYbC';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');

/** The ways in which a server may repeat a key. */
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
];

/** Answers the n-th request with the key that it came with, always as a failure. */
export function repeatKey(request: IncomingMessage, response: ServerResponse, n: number): void {
  const key = (request.headers.authorization ?? '').replace('Bearer ', '');
  const write = WRITINGS[n % WRITINGS.length]!;
  PLACES[n % PLACES.length]!(response, write(key), n);
}

const WINDOW = 10;

/** Every run of ten characters of the canary in every writing that a reader could undo. */
const FRAGMENTS: readonly string[] = [
  CANARY,
  encodeURIComponent(CANARY),
  JSON.stringify(CANARY).slice(1, -1),
  hex(CANARY),
  ...['', 'u', 'us'].map((before) => base64(before + CANARY).slice(4, -4)),
].flatMap((text) =>
  Array.from({ length: text.length - WINDOW + 1 }, (_, at) => text.slice(at, at + WINDOW)),
);

/** The fragments of the canary that a text holds, whatever quoted it meanwhile. */
export function findFragments(text: string): string[] {
  const unquoted = text.replaceAll('\\', '');
  return FRAGMENTS.filter(
    (fragment) => text.includes(fragment) || unquoted.includes(fragment.replaceAll('\\', '')),
  );
}

/** The same for the raw files of a database: a fifth of the fragments, since they are large. */
export const findInBytes = (bytes: Buffer): string[] =>
  FRAGMENTS.filter((fragment, n) => n % 5 === 0 && bytes.includes(fragment));
