import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatEvent, startServer } from '../../src/models/loopback.fixture.ts';

/** One request as the script sees it. */
export type Asked = {
  readonly model: string;
  /** `stage/document_key`, from the last line of the prompt. */
  readonly deliverable: string;
  /** How often this deliverable was asked for before. */
  readonly turn: number;
  /** What the model is told that it has written. */
  readonly soFar: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly hasSchema: boolean;
};

export type Answer = {
  readonly text?: string;
  readonly finish?: 'stop' | 'length' | 'content_filter';
  /** An HTTP error in place of an answer. */
  readonly status?: number;
  /** Ends the connection after the text, without a finish reason. */
  readonly drop?: boolean;
};

/** A request with what was sent of its answer, and when. */
export type Served = Asked & {
  readonly sent: { readonly bytes: number; readonly atMs: number }[];
  over: boolean;
};

export type Pace = {
  /** How long a model thinks before the first piece. */
  readonly firstMs?: number | undefined;
  readonly pieceChars: number;
  gapMs: number;
  /** While it holds for a request, nothing more than the first pieces of its answer is sent. */
  isHeld?: (row: Served) => boolean;
};

/** How many pieces of a held answer are sent. */
export const HELD_PIECES = 5;

type Content = string | readonly { readonly text?: string }[];
type Body = {
  model: string;
  messages: { role: string; content: Content }[];
  response_format?: unknown;
};

/**
 * An OpenAI-compatible server on loopback that plays a script and remembers what it was asked. Its
 * list of models, which the program asks for before a run, is no part of the script.
 */
export async function startScriptedServer(
  script: (asked: Asked) => Answer,
  pace: Pace = { pieceChars: 200, gapMs: 0 },
  models: readonly string[] = ['scripted'],
) {
  const served: Served[] = [];
  const server = await startServer((request, response, body) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
      return;
    }
    const asked = readAsked(JSON.parse(body) as Body, served);
    const row: Served = { ...asked, sent: [], over: false };
    served.push(row);
    response.on('close', () => {
      row.over = true;
    });
    void play(response, script(asked), row, pace);
  });
  return { ...server, served };
}

function readAsked({ model, messages, response_format }: Body, served: readonly Served[]): Asked {
  const texts = messages.map(({ role, content }) => ({ role, content: textOf(content) }));
  const all = texts.map(({ content }) => content).join('\n');
  const deliverable = [...all.matchAll(/^Deliverable: (\S+)$/gm)].at(-1)?.[1] ?? '';
  return {
    model,
    deliverable,
    turn: served.filter((row) => row.deliverable === deliverable).length,
    soFar: texts.reduce(
      (all, { role, content }) => all + (role === 'assistant' ? content : ''),
      '',
    ),
    system: texts.find(({ role }) => role === 'system')?.content ?? '',
    messages: texts.filter(({ role }) => role !== 'system'),
    hasSchema: response_format !== undefined,
  };
}

const textOf = (content: Content): string =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');

async function play(response: ServerResponse, answer: Answer, row: Served, pace: Pace) {
  const { text = '', finish = 'stop', status, drop } = answer;
  if (status !== undefined) {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `status ${status}`, type: 'test' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (pace.firstMs) await sleep(pace.firstMs);
  for (let at = 0; at < text.length && !row.over; at += pace.pieceChars) {
    while (row.sent.length >= HELD_PIECES && pace.isHeld?.(row) && !row.over) await sleep(5);
    const piece = text.slice(at, at + pace.pieceChars);
    response.write(chatEvent(piece));
    row.sent.push({ bytes: Buffer.byteLength(piece), atMs: performance.now() });
    if (pace.gapMs > 0) await sleep(pace.gapMs);
  }
  if (drop) {
    // Behind what was written, so that it arrives.
    await sleep(30);
    response.destroy();
    return;
  }
  response.write(chatEvent('', finish));
  response.end('data: [DONE]\n\n');
}
