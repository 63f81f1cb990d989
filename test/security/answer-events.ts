import type { ServerResponse } from 'node:http';

/** What a good answer says. */
export const GOOD_TEXT = JSON.stringify({
  text: 'Bread is made of flour, water, salt and time; the bakery sells it in the morning.',
});

/** One event of an OpenAI chat stream, with the parts that an attack replaces. */
export const event = (over: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 0, model: 'm', ...over })}\n\n`;

export const delta = (content: unknown, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });

export const usageOf = (usage: object): string => event({ choices: [], usage });

export const DONE = 'data: [DONE]\n\n';

/** Sends parts as they are: as a stream of events, unless the headers say otherwise. */
export function send(
  response: ServerResponse,
  parts: readonly (string | Buffer)[],
  headers: Record<string, string> = { 'content-type': 'text/event-stream' },
  status = 200,
): void {
  response.writeHead(status, headers);
  for (const part of parts) response.write(part);
  response.end();
}

/** A whole, well-formed answer with the given text and usage. */
export const answer = (
  response: ServerResponse,
  text: string,
  { finish = 'stop', usage }: { finish?: string; usage?: object } = {},
): void =>
  send(response, [delta(text), delta('', finish), ...(usage ? [usageOf(usage)] : []), DONE]);
