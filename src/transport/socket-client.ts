import { connect, type Socket } from 'node:net';
import { DialecticError } from '../errors/errors.ts';
import { withTimeout } from '../platform/clock.ts';
import { unpackError } from './carried-error.ts';
import { readJsonLines, sendJsonLine } from './json-lines.ts';
import type { Abort, Greeting, Reply, Request, Signals } from './messages.ts';

/** A connection whose other end has said who it is. */
export type Connection = {
  readonly greeting: Greeting;
  readonly socket: Socket;
  readonly messages: AsyncGenerator<unknown, void, void>;
};

/** A living process greets at once; one that was stopped by a signal does not. */
const GREETING_MS = 3_000;

/** Reaches the process that answers at an address; undefined where none does. */
export async function openConnection(
  address: string,
  greetingMs = GREETING_MS,
): Promise<Connection | undefined> {
  const socket = connect(address);
  socket.on('error', () => {}); // reading tells
  const messages = readJsonLines(socket);
  try {
    const first = await withTimeout(messages.next(), greetingMs, () => silent(address));
    if (!first.done) return { greeting: requireGreeting(address, first.value), socket, messages };
  } catch (thrown) {
    if (thrown instanceof DialecticError) {
      socket.destroy();
      throw thrown;
    }
    // Nobody listens there: the file is of a process that was killed, or of one that only begins.
  }
  socket.destroy();
  return undefined;
}

/** What is no greeting of ours comes from another program, which gets no request. */
function requireGreeting(address: string, value: unknown): Greeting {
  const { version, pid, callsModels }: Partial<Record<keyof Greeting, unknown>> = Object(value);
  const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0;
  const isVersion = typeof version === 'string' && /^[\w.+-]{1,64}$/.test(version);
  if (isPid && isVersion && typeof callsModels === 'boolean') return { version, pid, callsModels };
  throw silent(address);
}

const silent = (address: string): DialecticError =>
  new DialecticError(
    'data_directory_locked',
    `The process that holds the data directory does not answer at ${address}.`,
    { details: { address } },
  );

/**
 * Sends one request and yields what comes back: events, or the value of a call as the last. Leaving
 * the loop closes the connection, which the other end takes as an abort.
 */
export async function* converse(
  { socket, messages, greeting }: Connection,
  request: Omit<Request, 'signals'>,
  signals: Signals = {},
): AsyncGenerator<Extract<Reply, { kind: 'value' | 'event' }>, void, void> {
  const over = new AbortController();
  try {
    await sendJsonLine(socket, { ...request, signals: Object.keys(signals) } satisfies Request);
    for (const [name, signal] of Object.entries(signals)) {
      const abort = (): void => void sendJsonLine(socket, { abort: name } satisfies Abort);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true, signal: over.signal });
    }
    for (;;) {
      const reply = await readReply(messages, greeting.pid);
      if (reply.kind === 'end') return;
      if (reply.kind === 'error') throw unpackError(reply.error);
      if (reply.kind === 'closing') throw holderEnded(greeting.pid, false);
      yield reply;
      if (reply.kind === 'value') return;
    }
  } finally {
    over.abort();
    socket.destroy();
  }
}

async function readReply(
  messages: AsyncGenerator<unknown, void, void>,
  pid: number,
): Promise<Reply> {
  try {
    const { done, value } = await messages.next();
    if (!done) return value as Reply;
  } catch (thrown) {
    if (thrown instanceof DialecticError) throw thrown;
    // A reset connection is the same as a closed one: the other process is gone.
  }
  throw holderEnded(pid, true);
}

/** `taken`: whether the request may have been carried out before the process ended. */
const holderEnded = (pid: number, taken: boolean): DialecticError =>
  new DialecticError(
    'holder_ended',
    `Process ${pid}, which held the data directory, ended before it had answered.`,
    { details: { pid, outcome: taken ? 'unknown' : 'not carried out' } },
  );
