import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { DialecticError } from '../errors/errors.ts';
import { packError } from './carried-error.ts';
import { readJsonLines, sendJsonLine } from './json-lines.ts';
import type { Greeting, Reply, Request } from './messages.ts';

/** Carries a request out; the signal aborts when the caller aborts its own, or is gone. */
export type Answer = (
  request: Request,
  signal: AbortSignal,
) => Promise<unknown> | AsyncGenerator<unknown, void, void>;

/** Answers the requests of other processes on a socket, one request for each connection. */
export class SocketServer {
  readonly #answer: Answer;
  readonly #greeting: Greeting;
  readonly #server: Server;
  readonly #closing = new AbortController();
  /** Those who have sent a request, until it is answered. */
  readonly #busy = new Set<Promise<void>>();
  /** Those who were greeted and have not sent one. */
  readonly #idle = new Set<Socket>();

  private constructor(greeting: Greeting, answer: Answer) {
    this.#greeting = greeting;
    this.#answer = answer;
    this.#server = createServer((socket) => void this.#meet(socket));
  }

  /** Listens at an address, for this process's owner alone; it does not keep the process alive. */
  static async listen(address: string, greeting: Greeting, answer: Answer): Promise<SocketServer> {
    const own = new SocketServer(greeting, answer);
    const server = own.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(address, () => {
        server.off('error', reject);
        resolve();
      });
    });
    server.unref();
    if (process.platform !== 'win32') chmodSync(address, 0o600);
    return own;
  }

  /** How many requests are under way. */
  get busy(): number {
    return this.#busy.size;
  }

  /**
   * Takes no new request and waits for those under way. What lasts must be ended by its own means,
   * with `storage_closed`: its caller then sees the connection end, and goes elsewhere.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#idle) socket.destroy();
    await Promise.all(this.#busy);
    await closed;
  }

  async #meet(socket: Socket): Promise<void> {
    socket.on('error', () => {}); // 'close' follows, and ends the reading
    this.#idle.add(socket);
    try {
      await sendJsonLine(socket, this.#greeting);
      const messages = readJsonLines(socket);
      const first = await messages.next();
      this.#idle.delete(socket);
      if (first.done) return;
      const work = this.#carryOut(socket, first.value, messages);
      this.#busy.add(work);
      await work.finally(() => this.#busy.delete(work));
    } catch {
      // The caller is gone, or speaks no JSON: there is nobody to tell.
    } finally {
      this.#idle.delete(socket);
      socket.destroySoon();
    }
  }

  async #carryOut(
    socket: Socket,
    request: unknown,
    messages: AsyncGenerator<unknown, void, void>,
  ): Promise<void> {
    const caller = new AbortController();
    void hearAbort(messages, caller);
    const closing = this.#closing.signal;
    const send = (reply: Reply): Promise<boolean> => sendJsonLine(socket, reply, closing);
    if (closing.aborted) return void (await send({ kind: 'closing' }));
    try {
      const answered = this.#answer(parseRequest(request), caller.signal);
      if (!(Symbol.asyncIterator in answered)) {
        return void (await send({ kind: 'value', value: await answered }));
      }
      for await (const event of answered) if (!(await send({ kind: 'event', event }))) break;
      await send({ kind: 'end' });
    } catch (thrown) {
      const error = packError(thrown);
      if (!closing.aborted || error.code !== 'storage_closed') await send({ kind: 'error', error });
    }
  }
}

/** Aborts when the caller says so, and when its connection ends. */
async function hearAbort(
  messages: AsyncGenerator<unknown, void, void>,
  caller: AbortController,
): Promise<void> {
  try {
    for (;;) {
      const { done } = await messages.next();
      caller.abort();
      if (done) return;
    }
  } catch {
    caller.abort();
  }
}

function parseRequest(value: unknown): Request {
  const { method, args }: Partial<Record<keyof Request, unknown>> = Object(value);
  if (typeof method === 'string' && Array.isArray(args)) return { method, args };
  throw new DialecticError('usage_invalid', 'A request needs a method and its args.');
}
