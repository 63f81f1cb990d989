import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { DialecticError } from '../errors/errors.ts';
import { packError } from './carried-error.ts';
import { readJsonLines, sendJsonLine } from './json-lines.ts';
import type { Abort, Greeting, Reply, Request, Signals } from './messages.ts';

/** Carries a request out; its signals abort when the caller aborts its own, or is gone. */
export type Answer = (
  request: Request,
  signals: Signals,
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
    } catch (thrown) {
      // Else the caller is gone, or speaks no JSON: there is nobody to tell.
      if (thrown instanceof DialecticError) {
        await sendJsonLine(socket, { kind: 'error', error: packError(thrown) } satisfies Reply);
      }
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
    const closing = this.#closing.signal;
    const send = (reply: Reply): Promise<boolean> => sendJsonLine(socket, reply, closing);
    if (closing.aborted) return void (await send({ kind: 'closing' }));
    try {
      const asked = parseRequest(request);
      const answered = this.#answer(asked, hearSignals(asked.signals, messages));
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

/** Signals that abort when the caller says so, and all of them when its connection ends. */
function hearSignals(
  names: readonly string[],
  messages: AsyncGenerator<unknown, void, void>,
): Signals {
  const controllers = new Map(names.map((name) => [name, new AbortController()]));
  const hear = async (): Promise<void> => {
    try {
      for await (const { abort } of messages as AsyncIterable<Abort>)
        controllers.get(abort)?.abort();
    } finally {
      for (const controller of controllers.values()) controller.abort();
    }
  };
  hear().catch(() => {}); // a broken connection has aborted them as well
  return Object.fromEntries([...controllers].map(([name, { signal }]) => [name, signal]));
}

function parseRequest(value: unknown): Request {
  const { method, args, signals }: Partial<Record<keyof Request, unknown>> = Object(value);
  if (typeof method === 'string' && Array.isArray(args) && Array.isArray(signals)) {
    // Also where the caller has none: it stands for the connection itself.
    return { method, args, signals: ['signal', ...signals.map(String)] };
  }
  throw new DialecticError('usage_invalid', 'A request needs a method, its args and signals.');
}
