import { Kysely, PostgresDialect } from 'kysely';
import type { ClientBase, QueryResultRow } from 'pg';
import { DialecticError } from '../platform/errors.ts';
import type { Driver } from './driver.ts';
import type { Schema } from './schema.ts';

/**
 * As whom a transaction runs. `tenant` sees one tenant's rows; `worker` sees jobs and events of all;
 * `auth` finds tenants and tokens; `owner` is for migrations alone.
 */
export type Scope =
  | { readonly as: 'tenant'; readonly tenantId: string }
  | { readonly as: 'worker' }
  | { readonly as: 'auth' }
  | { readonly as: 'owner' };

export type DatabaseOptions = {
  /** Overrides the SQL clock (`app_now()`), for tests. */
  readonly clock?: () => Date;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** One open transaction: typed queries through `kysely`, statements that are the point through `query`. */
export class Transaction {
  readonly #client: ClientBase;
  #kysely: Kysely<Schema> | undefined;

  constructor(client: ClientBase) {
    this.#client = client;
  }

  get kysely(): Kysely<Schema> {
    this.#kysely ??= bindKysely(this.#client);
    return this.#kysely;
  }

  /** Runs one statement; with a `name` the server keeps its plan for the next time. */
  async query<Row extends QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<Row[]> {
    const config = { text, ...(values && { values: [...values] }), ...(name && { name }) };
    return (await this.#client.query<Row>(config)).rows;
  }
}

function bindKysely(client: ClientBase): Kysely<Schema> {
  const connection = { query: client.query.bind(client), release: () => {} };
  const pool = { connect: async () => connection, end: async () => {} };
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pool as never }) });
}

/** The store: transactions with a role, notifications, and nothing that runs outside of them. */
export class Database {
  readonly driver: Driver;
  readonly #clock: (() => Date) | undefined;

  constructor(driver: Driver, options: DatabaseOptions = {}) {
    this.driver = driver;
    this.#clock = options.clock;
  }

  /** Runs `work` in one transaction under a scope; whatever it throws rolls everything back. */
  async transaction<T>(scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const held = await this.driver.acquire();
    let broken = false;
    try {
      await held.client.query(this.#begin(scope));
      const result = await work(new Transaction(held.client));
      await held.client.query('commit');
      return result;
    } catch (error) {
      broken = await held.client.query('rollback').then(
        () => false,
        () => true,
      );
      throw this.driver.explain(error) ?? explainStatement(error);
    } finally {
      held.release(broken);
    }
  }

  asTenant<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transaction({ as: 'tenant', tenantId }, work);
  }

  asWorker<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transaction({ as: 'worker' }, work);
  }

  async close(): Promise<void> {
    await this.driver.close();
  }

  /** One round trip: SET LOCAL ends with the transaction, so a pooled connection carries nothing on. */
  #begin(scope: Scope): string {
    const clock = this.#clock ? `set local dialectic.now = '${this.#clock().toISOString()}';` : '';
    switch (scope.as) {
      case 'owner':
        return `begin; ${clock}`;
      case 'worker':
        return `begin; set local role dialectic_worker; ${clock}`;
      case 'auth':
        return `begin; set local role dialectic_auth; ${clock}`;
      case 'tenant':
        if (!UUID.test(scope.tenantId)) {
          throw new DialecticError('usage_invalid', 'A tenant id must be a lower-case UUID.');
        }
        return `begin; set local role dialectic_app;
          set local dialectic.tenant = '${scope.tenantId}'; ${clock}`;
    }
  }
}

/** Turns what PostgreSQL says into a coded error; its `detail` is left out, since it may name rows. */
export function explainStatement(error: unknown): unknown {
  if (error instanceof DialecticError || !(error instanceof Error)) return error;
  const { code = '', hint, constraint } = error as Error & Record<string, string | undefined>;
  if (code === 'DX000') return new DialecticError(hint as never, error.message, { cause: error });
  if (code === '42501') return new DialecticError('access_denied', error.message, { cause: error });
  if (code === '40001' || code === '40P01') {
    return new DialecticError('conflict', error.message, { cause: error, retryable: true });
  }
  if (code.startsWith('23')) {
    return new DialecticError('conflict', error.message, { cause: error, details: { constraint } });
  }
  return error;
}
