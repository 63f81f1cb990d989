import type { ServerResponse } from 'node:http';
import { delta, GOOD_TEXT, send } from './answer-events.ts';
import { BAD, END, JSON_TYPE, type NamedAttack, one, refuses } from './named-attack.ts';

const EVENTS = { 'content-type': 'text/event-stream' };
const slow = { timeouts: { firstByteMs: 150, silenceMs: 150, totalMs: 400 } };
const raw = (text: string) => (response: ServerResponse) => void response.socket?.end(text);

/** The protocol below the answer. */
export const RESPONSES: readonly NamedAttack[] = [
  one('a refusal with NUL', 'provider_request_refused', refuses(400, 'no \0 \ud800 \x1b[2J')),
  one('a refusal of 1 MB', 'provider_request_refused', refuses(400, 'no '.repeat(300_000))),
  one('a refusal in HTML', 'provider_request_refused', (it) =>
    send(it, ['<h1>no</h1>'], { 'content-type': 'text/html' }, 400),
  ),
  one('a wrong key', 'provider_auth', refuses(401, 'key sk-canary-0123456789 is wrong')),
  one('no credit', 'provider_quota_exhausted', refuses(402, 'pay')),
  one('an unknown model', 'model_unknown', refuses(404, 'no such model')),
  one('a prompt that is too long', 'provider_context_exceeded', refuses(413, 'too long')),
  one('too many requests', 'provider_rate_limited', refuses(429, 'slow down')),
  one(
    'too many requests for a year',
    'provider_rate_limited',
    refuses(429, 'slow down', { 'retry-after': '31536000' }),
  ),
  one(
    'too many requests for ever',
    'provider_rate_limited',
    refuses(429, 'slow down', { 'retry-after': '9'.repeat(300) }),
  ),
  one(
    'too many requests until a date',
    'provider_rate_limited',
    refuses(429, 'slow down', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }),
  ),
  one(
    'too many requests for Infinity',
    'provider_rate_limited',
    refuses(429, 'slow down', { 'retry-after-ms': 'Infinity' }),
  ),
  one(
    'a retry-after below zero',
    'provider_rate_limited',
    refuses(429, 'slow down', { 'retry-after': '-5', 'retry-after-ms': '-5' }),
  ),
  one('a fault for ever', 'provider_unavailable', refuses(500, 'oops')),
  one(
    'a fault that asks to come at once',
    'provider_unavailable',
    refuses(503, 'oops', { 'retry-after': '0' }),
  ),
  one('a status of 299', ['saved', ...BAD], (it) =>
    send(it, [delta(GOOD_TEXT), ...END], EVENTS, 299),
  ),
  one('a redirect', BAD, (it) => send(it, [], { location: 'http://127.0.0.1:1/' }, 302)),
  one('a login page', 'provider_bad_response', (it) =>
    send(it, ['<html>'], { 'content-type': 'text/html' }),
  ),
  one('JSON for a stream', 'provider_bad_response', (it) => send(it, ['{}'], JSON_TYPE)),
  one('no content', BAD, (it) => send(it, [], {}, 204)),
  one('another protocol', [...BAD, 'provider_unreachable'], (it) => {
    it.socket?.write(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    );
  }),
  one('an end before the answer', 'provider_unreachable', (it) => void it.socket?.destroy()),
  one('an end in the middle', 'continuation_exhausted', (it, n) => {
    it.writeHead(200, EVENTS);
    it.write(delta(n === 1 ? '{"text": "half of' : ' a word'), () =>
      setTimeout(() => it.destroy(), 20),
    );
  }),
  one(
    'a length that is too long',
    ['saved', 'provider_unreachable', ...BAD],
    raw(
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n${delta(GOOD_TEXT)}`,
    ),
  ),
  one(
    'a length that is too short',
    ['saved', 'provider_unreachable', ...BAD],
    raw(
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 20\r\n\r\n${delta(GOOD_TEXT)}`,
    ),
  ),
  one(
    'chunks that are none',
    ['provider_unreachable', ...BAD],
    raw(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nbread',
    ),
  ),
  one('no HTTP', ['provider_unreachable', ...BAD], raw('220 mail.example.org ESMTP\r\n')),
  one(
    'headers of 1 MB',
    ['provider_unreachable', ...BAD],
    raw(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1e6)}\r\n\r\n`),
  ),
  one('gzip that is none', ['provider_unreachable', ...BAD], (it) =>
    send(it, [delta(GOOD_TEXT)], { ...EVENTS, 'content-encoding': 'gzip' }),
  ),
  one('an encoding that nobody knows', ['saved', 'provider_unreachable', ...BAD], (it) =>
    send(it, [delta(GOOD_TEXT), ...END], { ...EVENTS, 'content-encoding': 'magic' }),
  ),
  one('silence', 'provider_timeout', () => {}, slow),
  one(
    'silence behind the headers',
    'provider_timeout',
    (it) => {
      it.writeHead(200, EVENTS);
      it.flushHeaders();
    },
    slow,
  ),
  one(
    'signs of life for ever',
    'provider_timeout',
    (it) => {
      it.writeHead(200, EVENTS);
      const timer = setInterval(() => it.write(': alive\n\n'), 20);
      it.on('close', () => clearInterval(timer));
    },
    slow,
  ),
];
