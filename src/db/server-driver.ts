import { Socket } from 'node:net';
import pg from 'pg';
import { codeOf, DialecticError } from '../errors/errors.ts';
import { elapsedMs, sleep } from '../platform/clock.ts';
import { type HideSecrets, hideFragments } from '../text/hide-fragments.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { Driver, HeldConnection, Hint, Presence, Purpose } from './driver.ts';
import { Listeners } from './listeners.ts';
import { announcePresence, COUNT_PRESENT } from './presence.ts';
import {
  checkUrl,
  describeUrl,
  explainConnecting,
  explainConnection,
  passwordsIn,
} from './server-errors.ts';
import { valueParsers } from './value-parsers.ts';

export type ServerOptions = {
  readonly connections?: number;
  /** How long to wait for a connection, a new one or a free one. */
  readonly connectTimeoutMs?: number;
};

const OLDEST_SERVER = 150_000;
const RECONNECT_MS = 1_000;
const FULL_RETRY_MS = 2_000;
/** An end that takes longer is looked into, and a server that does not answer this long is silent. */
const SLOW_END_MS = 2_000;
const SILENT_MS = 4_000;
/** Whatever ends with the connections tries once more to reach the server; it is not asked again. */
const STAYS_SILENT_MS = 10_000;

/**
 * A connection of the server plans every statement for itself, and functions that two roles call in turn
 * again and again. Claims and ends of jobs therefore have two of their own, and what jobs do has others:
 * reads, beginnings and ends of calls go one at a time each.
 */
const FEWEST_FOR_QUEUE = 2;
const FEWEST_FOR_WORK = 3;

/** A PostgreSQL server: pools for statements and one connection for notifications. */
export class ServerDriver implements Driver {
  readonly kind = 'server';
  readonly #config: pg.PoolConfig;
  readonly #name: string;
  /** What a server says may repeat the password that it got. */
  readonly #hide: HideSecrets;
  readonly #work: ConnectionPool;
  readonly #queue: ConnectionPool;
  readonly #listeners = new Listeners();
  #listening: Promise<pg.Client> | undefined;
  readonly #sockets = new Set<Socket>();
  #full = false;
  #silentUntilMs = -Infinity;
  #closing: Promise<void> | undefined;

  private constructor(url: string, options: ServerOptions) {
    this.#name = describeUrl(url);
    this.#hide = hideFragments(passwordsIn(url));
    this.#config = {
      connectionString: url,
      stream: () => this.#openSocket(),
      types: valueParsers,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
      keepAlive: true,
      // The system's own figure is two hours, for which a query would wait for a server that is gone.
      keepAliveInitialDelayMillis: 10_000,
    };
    const most = options.connections ?? 10;
    this.#work = new ConnectionPool(this.#config, most, FEWEST_FOR_WORK);
    const isOne = most === 1;
    this.#queue = isOne ? this.#work : new ConnectionPool(this.#config, most, FEWEST_FOR_QUEUE);
  }

  static async open(url: string, options: ServerOptions = {}): Promise<ServerDriver> {
    const driver = new ServerDriver(checkUrl(url), options);
    try {
      const held = await driver.acquire();
      const { rows } = await held.client
        .query("select current_setting('server_version_num')::int as version")
        .finally(() => held.release());
      const version = requireVersion(rows);
      if (version < OLDEST_SERVER) throw unsupported(version);
    } catch (error) {
      await driver.close();
      throw error;
    }
    return driver;
  }

  ready(): void {} // a server's backups are its owner's matter

  async acquire(purpose: Purpose = 'work'): Promise<HeldConnection> {
    this.#refuseWhenClosed();
    this.#refuseWhenSilent();
    try {
      const pool = purpose === 'queue' ? this.#queue : this.#work;
      return await pool.acquire(purpose === 'aside');
    } catch (error) {
      this.#refuseWhenClosed();
      throw explainConnecting(error, this.#hide);
    }
  }

  async notify(hints: readonly Hint[]): Promise<void> {
    const calls = hints.map((_, at) => `pg_notify($${2 * at + 1}, $${2 * at + 2})`);
    const values = hints.flatMap(({ channel, payload }) => [channel, payload]);
    try {
      const client = await this.#listener();
      await client.query(`select ${calls.join(', ')}`, values);
    } catch (error) {
      throw this.explain(error) ?? error;
    }
  }

  async listen(channel: string, onNotify: (payload: string) => void) {
    this.#refuseWhenClosed();
    const remove = this.#listeners.add(channel, onNotify);
    try {
      const client = await this.#listener();
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      remove();
      throw explainConnecting(error, this.#hide);
    }
    return async () => remove();
  }

  async announce(id: string, place: string): Promise<Presence> {
    this.#refuseWhenClosed();
    return announcePresence(this.#config, id, place).catch((error: unknown) => {
      throw explainConnecting(error, this.#hide);
    });
  }

  async countPresent(places: readonly string[]): Promise<number[]> {
    const held = await this.acquire();
    try {
      type Row = { at: number; count: number };
      const { rows } = await held.client.query<Row>(COUNT_PRESENT, [[...places]]);
      return rows.map(({ count }) => count);
    } catch (error) {
      throw this.explain(error) ?? error;
    } finally {
      held.release();
    }
  }

  /** A server does not say when it has room again; waiting a little and trying is all there is. */
  async untilWritable(signal?: AbortSignal): Promise<void> {
    if (!this.#full) return;
    await sleep(FULL_RETRY_MS, signal);
    this.#full = false;
  }

  explain(error: unknown): DialecticError | undefined {
    if (codeOf(error) === '53100') {
      this.#full = true;
      const message =
        `The disk of the database server (${this.#name}) is full: make room there. ` +
        'Work goes on as soon as it can write again.';
      return new DialecticError('storage_full', message, { cause: error });
    }
    return explainConnection(error, this.#hide);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const ended = new AbortController();
    void this.cutIfSilent(ended.signal);
    const listener = await this.#listening?.catch(() => undefined);
    await listener?.end();
    await Promise.all([...new Set([this.#work, this.#queue])].map((pool) => pool.end()));
    ended.abort();
  }

  async cutIfSilent(ended: AbortSignal): Promise<void> {
    await sleep(SLOW_END_MS, ended);
    if (ended.aborted || (await this.#isAnswering())) return;
    this.#silentUntilMs = elapsedMs() + STAYS_SILENT_MS;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** A refusal is an answer, too. A connection that stays open says nothing: a proxy may hold it. */
  async #isAnswering(): Promise<boolean> {
    const probe = new pg.Client({ ...this.#config, connectionTimeoutMillis: SILENT_MS });
    probe.on('error', () => {});
    try {
      await probe.connect();
      await probe.end();
      return true;
    } catch (error) {
      return explainConnecting(error, this.#hide).code !== 'database_unreachable';
    }
  }

  #openSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  }

  #refuseWhenSilent(): void {
    if (elapsedMs() > this.#silentUntilMs) return;
    throw new DialecticError('database_unreachable', 'The database server does not answer.');
  }

  #refuseWhenClosed(): void {
    if (!this.#closing) return;
    throw new DialecticError('storage_closed', 'The database is closed.', { retryable: false });
  }

  async #listener(): Promise<pg.Client> {
    this.#listening ??= this.#connectListener();
    const connecting = this.#listening;
    try {
      return await connecting;
    } catch (error) {
      if (this.#listening === connecting) this.#listening = undefined; // the next one tries again
      throw error;
    }
  }

  async #connectListener(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    client.on('notification', ({ channel, payload }) => {
      this.#listeners.tell(channel, payload ?? '');
    });
    client.on('error', () => {}); // 'end' follows and is what matters
    try {
      await client.connect();
      for (const channel of this.#listeners.channels()) {
        await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      }
    } catch (error) {
      await client.end();
      throw error;
    }
    client.on('end', () => {
      if (this.#closing) return;
      this.#listening = this.#reconnectListener();
      this.#listening.catch(() => {}); // rejects only when the driver is closed meanwhile
    });
    return client;
  }

  /** Notifications sent meanwhile are lost, so every listener is called once after a reconnect. */
  async #reconnectListener(): Promise<pg.Client> {
    for (;;) {
      await sleep(RECONNECT_MS);
      this.#refuseWhenClosed();
      try {
        const client = await this.#connectListener();
        this.#listeners.tellAll();
        return client;
      } catch {
        // The server is still away; statements report that, a hint connection only waits for it.
      }
    }
  }
}

/** What answers without a row is another program than PostgreSQL, or a proxy that makes answers up. */
function requireVersion([row]: readonly { version?: unknown }[]): number {
  if (typeof row?.version === 'number') return row.version;
  throw new DialecticError(
    'database_unsupported',
    'The server does not say which version of PostgreSQL it is; DATABASE_URL may name something else.',
  );
}

function unsupported(version: number): DialecticError {
  return new DialecticError(
    'database_unsupported',
    `The server runs PostgreSQL ${Math.floor(version / 10_000)}; version 15 is the oldest supported.`,
    { details: { version } },
  );
}
