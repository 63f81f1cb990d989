import { once } from 'node:events';
import type { Socket } from 'node:net';

/**
 * Yields the JSON values of a connection, one for each line, until the other end closes it. Nothing
 * is read ahead of the loop but what the kernel and the socket buffer, so that a slow reader slows
 * the sender down; leaving the loop closes the connection.
 */
export async function* readJsonLines(socket: Socket): AsyncGenerator<unknown, void, void> {
  socket.setEncoding('utf8');
  let begun: string[] = [];
  for await (const chunk of socket as AsyncIterable<string>) {
    const parts = chunk.split('\n');
    const rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = begun.join('') + part;
      begun = [];
      yield JSON.parse(line);
    }
    if (rest !== '') begun.push(rest);
  }
}

/** Sends a value, and waits while the other end is behind with reading; false once it is gone. */
export async function sendJsonLine(
  socket: Socket,
  value: unknown,
  impatience?: AbortSignal,
): Promise<boolean> {
  if (!socket.writable) return false;
  if (socket.write(`${JSON.stringify(value)}\n`)) return true;
  const settled = new AbortController();
  const signal = impatience ? AbortSignal.any([settled.signal, impatience]) : settled.signal;
  try {
    await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })]);
  } catch {
    return false; // the connection broke, or the sender does not want to wait any longer
  } finally {
    settled.abort();
  }
  return socket.writable;
}
