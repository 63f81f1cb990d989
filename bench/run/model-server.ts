import { hash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeDocument } from '../../src/models/offline/author.ts';
import { PERSONA_NAMES } from '../../src/models/offline/personas.ts';
import type { JsonSchema, ModelMessage } from '../../src/models/types.ts';
import { type Latency, latencyAt, paceOf } from './plan.ts';

// A model on loopback that speaks OpenAI's chat format. Whatever is asked a second time is answered
// from memory, a latency after its request began to arrive that is each call's own; what is asked for
// the first time is written by the offline author. `POST /latency` sets the latency, which does not hold
// below `/now/`; `POST /first` tells when the first request came since it was last asked.

type ChatRequest = {
  model: string;
  messages: { role: 'system' | 'user' | 'assistant'; content: string }[];
  response_format?: { json_schema?: { name: string; schema: JsonSchema } };
};

/** When a request began to arrive, and whether it is answered at once. */
type Beginning = { readonly startedMs: number; readonly isNow: boolean };
/** A reply as it is streamed, and whether it comes sooner or later than others. */
type Reply = { readonly pieces: readonly string[]; readonly pace: number };

const PIECES = 4;

const answers = new Map<string, string>();
/** Whole replies by the bytes of their requests: reading those again would take a core from the run. */
const replies = new Map<string, Reply>();
let latency: Latency = { ms: 0, spread: 0 };
/** In milliseconds since 1970; null where none came. */
let firstAt: number | null = null;

/** The answer to a request; peers send the same messages without a schema and get the same one. */
function answer({ model, messages, response_format }: ChatRequest): string {
  const key = hash('sha256', JSON.stringify([model, messages]), 'hex');
  const known = answers.get(key);
  if (known !== undefined) return known;
  const [system, ...rest] = messages;
  const schema = response_format?.json_schema;
  const persona = PERSONA_NAMES[Number(model.at(-1)) - 1] ?? 'builder';
  const text = writeDocument(
    {
      model,
      system: system?.content ?? '',
      messages: rest as ModelMessage[],
      ...(schema && { schema }),
    },
    persona,
  );
  answers.set(key, text);
  return text;
}

const event = (delta: object, finish: string | null, more: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })}\n\n`;

async function reply(response: ServerResponse, body: Buffer, from: Beginning): Promise<void> {
  const key = hash('sha256', body, 'hex');
  const known = replies.get(key) ?? read(JSON.parse(body.toString()) as ChatRequest);
  replies.set(key, known);
  const { pieces, pace } = known;
  const waitMs = from.isNow ? 0 : from.startedMs + latencyAt(latency, pace) - performance.now();
  if (waitMs > 0) await sleep(waitMs);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of pieces) response.write(piece);
  response.end();
}

function read(request: ChatRequest): Reply {
  return { pieces: write(request), pace: paceOf(request.model, request.messages) };
}

/** The reply to a request as it is streamed. */
function write(request: ChatRequest): string[] {
  const text = answer(request);
  const pieces: string[] = [];
  const size = Math.ceil(text.length / PIECES);
  for (let at = 0; at < text.length; at += size) {
    pieces.push(event({ content: text.slice(at, at + size) }, null));
  }
  const prompt = request.messages.reduce((sum, { content }) => sum + content.length, 0);
  const usage = {
    prompt_tokens: Math.ceil(prompt / 4),
    completion_tokens: Math.ceil(text.length / 4),
    total_tokens: Math.ceil((prompt + text.length) / 4),
  };
  return [...pieces, `${event({}, 'stop', { usage })}data: [DONE]\n\n`];
}

const server = createServer((request, response) => {
  const startedMs = performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (request.url === '/latency') {
      latency = JSON.parse(body.toString()) as Latency;
      return response.end();
    }
    if (request.method === 'GET') {
      response.setHeader('content-type', 'application/json');
      return response.end('{"object":"list","data":[{"id":"p1"},{"id":"p2"},{"id":"p3"}]}');
    }
    if (request.url === '/first') {
      response.end(JSON.stringify(firstAt));
      firstAt = null;
      return;
    }
    firstAt ??= performance.timeOrigin + startedMs;
    const isNow = request.url?.startsWith('/now/') ?? false;
    void reply(response, body, { startedMs, isNow });
  });
});
const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
server.keepAliveTimeout = 600_000; // a turn of the model is longer than the usual 5 s
server.listen(Number(values.port), '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
