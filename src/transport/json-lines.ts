import { once } from 'node:events';
import type { Socket } from 'node:net';
import { DialecticError } from '../errors/errors.ts';
import { countNoun } from '../text/count-noun.ts';

/** The sources of a run, 100 MB of text and the same as base64, take some 240 million. */
const MOST_CHARS = 2 ** 28;

/**
 * Yields the JSON values of a connection, one for each line, until the other end closes it. Nothing
 * is read ahead of the loop but what the kernel and the socket buffer, so that a slow reader slows
 * the sender down; leaving the loop closes the connection. A line that is too long throws, and leaves
 * the connection to the caller, who may still say why it closes it.
 */
export async function* readJsonLines(socket: Socket): AsyncGenerator<unknown, void, void> {
  socket.setEncoding('utf8');
  let begun: string[] = [];
  let begunChars = 0;
  let isLeft = true;
  const chunks: AsyncIterable<string> = socket.iterator({ destroyOnReturn: false });
  try {
    for await (const chunk of chunks) {
      const parts = chunk.split('\n');
      const rest = parts.pop() ?? '';
      for (const part of parts) {
        const line = begun.join('') + part;
        begun = [];
        begunChars = 0;
        yield JSON.parse(line);
      }
      if (rest !== '') begun.push(rest);
      begunChars += rest.length;
      if (begunChars > MOST_CHARS) {
        isLeft = false;
        throw tooLarge();
      }
    }
    isLeft = false;
  } finally {
    if (isLeft) socket.destroy();
  }
}

/**
 * Sends a value, and waits while the other end is behind with reading; false once it is gone. Nothing
 * is sent of a value that the other end would refuse for its size.
 */
export async function sendJsonLine(
  socket: Socket,
  value: unknown,
  impatience?: AbortSignal,
): Promise<boolean> {
  if (!socket.writable) return false;
  if (socket.write(writeLine(value))) return true;
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

function writeLine(value: unknown): string {
  const text = stringify(value);
  if (text.length > MOST_CHARS) throw tooLarge();
  return `${text}\n`;
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (thrown) {
    // V8's longest string has 512 million characters.
    throw thrown instanceof RangeError ? tooLarge() : thrown;
  }
}

const tooLarge = (): DialecticError =>
  new DialecticError(
    'message_too_large',
    `A message between two processes of this store has more than ${countNoun(MOST_CHARS, 'character')}.`,
  );
