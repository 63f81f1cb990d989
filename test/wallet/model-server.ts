import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { seeded } from '../chaos/crash-jobs.ts';

/** What the server did with one request, as a provider's bill would show it. */
export type Billed = {
  readonly id: string;
  readonly deliverable: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  fault: 'status' | 'cut' | 'silent' | null;
};

export type ServerPlan = {
  /** What part of the requests goes wrong: an error, or an answer cut in the middle. */
  readonly faultRate?: number;
  readonly seed?: number;
  readonly chars?: number;
  readonly gapMs?: number;
  /** Waits in the middle of every answer. */
  readonly rest?: () => Promise<void>;
  /** Whether a request is billed, but brings no text. */
  readonly isSilent?: (deliverable: string, turn: number) => boolean;
  /** An answer in place of the usual one. */
  readonly answer?: (deliverable: string, turn: number) => string | undefined;
};

type Body = { messages: { role: string; content: string | { text?: string }[] }[] };

const tokens = (text: string): number => Math.ceil(text.length / 5);

/** A provider on loopback that bills by the character and keeps a record of it. */
export async function startModelServer(plan: ServerPlan = {}) {
  const billed: Billed[] = [];
  const chance = seeded(plan.seed ?? 1);
  const server = await startServer((_request, response, body) => {
    const turns = (JSON.parse(body) as Body).messages.map(({ role, content }) => ({
      role,
      text: typeof content === 'string' ? content : content.map((one) => one.text ?? '').join(''),
    }));
    const prompt = turns.map(({ text }) => text).join('');
    const deliverable = /.*Deliverable: (\S+)/s.exec(prompt)?.[1] ?? '';
    const turn = billed.filter((one) => one.deliverable === deliverable).length;
    const usual = JSON.stringify({
      text: `${deliverable} ${'words and '.repeat((plan.chars ?? 600) / 10)}`,
    });
    const written = turns.filter(({ role }) => role === 'assistant');
    const soFar = written.map((one) => one.text).join('');
    const whole = plan.answer?.(deliverable, turn) ?? usual;
    const text = whole.startsWith(soFar) ? whole.slice(soFar.length) : whole;
    const row: Billed = {
      id: `bill-${billed.length + 1}`,
      deliverable,
      inputTokens: tokens(prompt),
      outputTokens: tokens(text),
      fault: chance() >= (plan.faultRate ?? 0) ? null : chance() < 0.5 ? 'status' : 'cut',
    };
    if (plan.isSilent?.(deliverable, turn)) row.fault = 'silent';
    billed.push(row);
    void play(response, text, row, plan);
  });
  return { ...server, billed };
}

async function play(response: ServerResponse, text: string, row: Billed, plan: ServerPlan) {
  const { gapMs = 0, rest } = plan;
  if (row.fault === 'status') {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"upstream failed","type":"api_error"}}');
    return;
  }
  const send = (rest: object): void => {
    const event = { id: row.id, object: 'chat.completion.chunk', created: 0, model: 'm', ...rest };
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  };
  const choice = (delta: object, finish: string | null = null): object => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const isSilent = row.fault === 'silent';
  const pieces = isSilent ? [] : (text.match(/[\s\S]{1,100}/g) ?? []);
  for (const [n, piece] of pieces.entries()) {
    if (n === pieces.length >> 1) await rest?.();
    if (row.fault === 'cut' && n >= pieces.length >> 1) {
      await sleep(20);
      response.destroy();
      return;
    }
    send(choice({ role: 'assistant', content: piece }));
    if (gapMs > 0) await sleep(gapMs);
  }
  send(choice({}, isSilent ? 'aborted' : 'stop'));
  const { inputTokens, outputTokens } = row;
  send({
    choices: [],
    usage: {
      prompt_tokens: inputTokens,
      completion_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
    },
  });
  response.end('data: [DONE]\n\n');
}
