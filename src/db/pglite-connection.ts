import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { joinBytes } from './join-bytes.ts';
import { compilePglite } from './pglite-module.ts';
import type { ThreadMessage, ThreadRequest, ThreadStart } from './pglite-thread.ts';

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const threadUrl = new URL(`./pglite-thread.${extension}`, import.meta.url);

const startWorker = (): Worker => new Worker(threadUrl, { stdout: true, stderr: true });

/** A thread that loads its modules and waits for a store. */
let spare: Worker | undefined;

/**
 * Starts a database thread before it is known which store it opens, so that it loads its modules
 * while the program loads its own. It does not keep the process alive.
 */
export function prepareThread(): void {
  if (spare) return;
  const worker = startWorker();
  const forget = (): void => {
    if (spare === worker) spare = undefined;
  };
  worker.on('error', forget).on('exit', forget).unref();
  spare = worker;
  compilePglite().catch(() => {}); // the store that opens tells why
}

function takeWorker(): Worker {
  const taken = spare ?? startWorker();
  spare = undefined;
  taken.ref();
  return taken;
}

/** Why a database thread came to its end. */
type ThreadEnd = 'disk-full' | 'crashed' | 'closed';

/**
 * One PGlite in a thread of its own, reached through PostgreSQL's wire protocol: the client above
 * it is the same node-postgres that talks to a server. On the main thread a tight query loop would
 * stop every timer of the process, heartbeats included.
 */
export class PgliteThread {
  readonly #worker: Worker;
  readonly #stream: ThreadStream;
  readonly ended: Promise<ThreadEnd>;
  #end!: (reason: ThreadEnd) => void;
  #failure: string | undefined;
  #ready: Promise<void>;

  constructor(directory: string) {
    this.#worker = takeWorker();
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    // The bytes are given away, not copied.
    this.#stream = new ThreadStream((request) =>
      this.#worker.postMessage(request, [request.buffer]),
    );
    this.#ready = new Promise((resolve, reject) => {
      this.#worker.on('message', (message: ThreadMessage) => {
        if (message.kind === 'ready') resolve();
        else if (message.kind === 'data') this.#stream.receive(message.bytes);
        else if (message.kind === 'disk-full') void this.terminate('disk-full');
        else if (message.kind === 'closed') void this.terminate('closed');
        else this.#failure = message.message;
        if (message.kind === 'failed') reject(new Error(message.message));
      });
      this.#worker.on('error', (error) => {
        this.#failure ??= error.message;
      });
      this.#worker.on('exit', () => {
        reject(new Error(this.#failure ?? 'the database thread ended while it opened'));
        void this.terminate('crashed');
      });
    });
    // The thread loads its modules meanwhile; node queues the message until it listens.
    compilePglite().then(
      (module) => this.#worker.postMessage({ module, directory } satisfies ThreadStart),
      (error: Error) => {
        this.#failure = error.message;
        void this.terminate('crashed');
      },
    );
    this.#ready.catch(() => {}); // awaited by opened(); an exit after readiness is not a rejection
  }

  /** What the thread itself said of its end, where it said anything. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Resolves when the database answers; rejects with the reason when it cannot be opened. */
  opened(): Promise<void> {
    return this.#ready;
  }

  /** The stream that node-postgres uses in place of a socket. */
  stream(): Duplex {
    return this.#stream;
  }

  /** Checkpoints, closes the files and ends the thread. */
  async close(): Promise<void> {
    this.#worker.postMessage('close' satisfies ThreadRequest);
    await this.ended;
  }

  /** Ends the thread at once, as a crash of the database would. */
  async terminate(reason: ThreadEnd): Promise<void> {
    this.#end(reason);
    await this.#worker.terminate();
    this.#stream.destroy();
  }
}

/** A socket look-alike: what the client writes in one turn goes to the thread as one message. */
class ThreadStream extends Duplex {
  readonly #send: (request: Uint8Array<ArrayBuffer>) => void;

  constructor(send: (request: Uint8Array<ArrayBuffer>) => void) {
    super();
    this.#send = send;
  }

  receive(bytes: Uint8Array): void {
    if (!this.destroyed) this.push(bytes);
  }

  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}
  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send(joinBytes([chunk]));
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.#send(joinBytes(chunks.map(({ chunk }) => chunk)));
    done();
  }
}
