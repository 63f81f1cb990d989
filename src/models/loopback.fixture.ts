import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on loopback that answers as one test wants it to. */
export async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** One event of an OpenAI chat stream. */
export const chatEvent = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'c1',
    created: 0,
    model: 'm',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  })}\n\n`;
