import pg from 'pg';
import { sleep } from '../platform/clock.ts';
import { DialecticError } from '../platform/errors.ts';
import type { Driver, HeldConnection } from './driver.ts';
import { valueParsers } from './value-parsers.ts';

export type ServerOptions = { readonly connections?: number };

const OLDEST_SERVER = 150_000;
const RECONNECT_MS = 1_000;
const FULL_RETRY_MS = 2_000;

/** A PostgreSQL server: a pool for statements and one connection that only listens. */
export class ServerDriver implements Driver {
  readonly kind = 'server';
  readonly #config: pg.PoolConfig;
  readonly #pool: pg.Pool;
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  #listening: Promise<pg.Client> | undefined;
  #full = false;
  #closed = false;

  private constructor(url: string, options: ServerOptions) {
    this.#config = {
      connectionString: url,
      types: valueParsers,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    };
    this.#pool = new pg.Pool({ ...this.#config, max: options.connections ?? 10 });
    this.#pool.on('error', () => {}); // an idle connection that dies is replaced on next use
    // One that dies while it is held fails its statement; without a listener it would end the process.
    this.#pool.on('connect', (client) => void client.on('error', () => {}));
  }

  static async open(url: string, options: ServerOptions = {}): Promise<ServerDriver> {
    const driver = new ServerDriver(checkUrl(url), options);
    try {
      const held = await driver.acquire();
      const { rows } = await held.client
        .query("select current_setting('server_version_num')::int as version")
        .finally(() => held.release());
      if (rows[0].version < OLDEST_SERVER) throw unsupported(rows[0].version);
    } catch (error) {
      await driver.close();
      throw error;
    }
    return driver;
  }

  async acquire(): Promise<HeldConnection> {
    try {
      const client = await this.#pool.connect();
      return { client, release: (broken) => client.release(broken === true) };
    } catch (error) {
      throw explainConnection(error) ?? error;
    }
  }

  async listen(channel: string, onNotify: (payload: string) => void) {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(onNotify);
    this.#listening ??= this.#connectListener();
    const client = await this.#listening.catch((error: unknown) => {
      this.#listening = undefined;
      throw explainConnection(error) ?? error;
    });
    await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    return async () => void listeners.delete(onNotify);
  }

  /** A server does not say when it has room again; waiting a little and trying is all there is. */
  async untilWritable(signal?: AbortSignal): Promise<void> {
    if (!this.#full) return;
    await sleep(FULL_RETRY_MS, signal);
    this.#full = false;
  }

  explain(error: unknown): DialecticError | undefined {
    if ((error as { code?: string }).code === '53100') {
      this.#full = true;
      return new DialecticError('storage_full', "The database server's disk is full.", {
        cause: error,
      });
    }
    return explainConnection(error);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const listener = await this.#listening?.catch(() => undefined);
    await listener?.end();
    await this.#pool.end();
  }

  async #connectListener(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    client.on('notification', ({ channel, payload }) => {
      for (const onNotify of this.#listeners.get(channel) ?? []) onNotify(payload ?? '');
    });
    client.on('error', () => {}); // 'end' follows and is what matters
    await client.connect();
    for (const channel of this.#listeners.keys()) {
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    }
    client.on('end', () => {
      if (this.#closed) return;
      this.#listening = this.#reconnectListener();
      this.#listening.catch(() => {}); // rejects only when the driver is closed meanwhile
    });
    return client;
  }

  /** Hints sent meanwhile are lost, so everybody is told to look once the connection is back. */
  async #reconnectListener(): Promise<pg.Client> {
    for (;;) {
      await sleep(RECONNECT_MS);
      if (this.#closed) throw new DialecticError('storage_closed', 'The database is closed.');
      try {
        const client = await this.#connectListener();
        for (const listeners of this.#listeners.values()) for (const wake of listeners) wake('');
        return client;
      } catch {
        // The server is still away; statements report that, a hint connection only waits for it.
      }
    }
  }
}

function checkUrl(url: string): string {
  if (/^postgres(ql)?:\/\/./.test(url)) return url;
  throw new DialecticError('usage_invalid', 'DATABASE_URL must begin with postgres://.');
}

function unsupported(version: number): DialecticError {
  return new DialecticError(
    'database_unsupported',
    `The server runs PostgreSQL ${Math.floor(version / 10_000)}; version 15 is the oldest supported.`,
    { details: { version } },
  );
}

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOENT',
]);

/** Tells a server that is away (worth another try) from one that says no. */
function explainConnection(error: unknown): DialecticError | undefined {
  const { code = '', message } = error as { code?: string; message: string };
  const away =
    NETWORK_CODES.has(code) ||
    /^(08|57P0|53300)/.test(code) ||
    /connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/i.test(
      message,
    );
  if (away) {
    return new DialecticError('database_unreachable', `The database server is away: ${message}`, {
      cause: error,
    });
  }
  if (/^(28|3D)/.test(code)) {
    return new DialecticError('database_refused', `The database server refused: ${message}`, {
      cause: error,
    });
  }
  return undefined;
}
