import type { ClientBase, QueryResult, QueryResultRow } from 'pg';
import { DialecticError, withDetails } from '../errors/errors.ts';
import { elapsedMs } from '../platform/clock.ts';
import type { Trace } from '../platform/trace.ts';
import type { Driver, HeldConnection, Purpose } from './driver.ts';
import { explainStatement } from './explain-statement.ts';
import { readStoreId, rolesOf, type StoreRoles } from './store-roles.ts';
import { TenantReads } from './tenant-reads.ts';
import { AnyTransaction, notSaved, Transaction } from './transaction.ts';
import { TransactionGroup } from './transaction-group.ts';

/**
 * As whom a transaction runs. `tenant` sees one tenant's rows; `worker` sees what jobs need, of
 * all; `auth` finds tenants and tokens; `owner` is for migrations alone.
 */
export type Scope =
  | {
      readonly as: 'tenant';
      readonly tenantId: string;
      /** Whether statements with a name are never planned again for the values that they are given. */
      readonly keepsPlans?: boolean;
    }
  | { readonly as: 'worker' }
  | { readonly as: 'auth' }
  | { readonly as: 'owner' };

export type DatabaseOptions = {
  /** Overrides the SQL clock (`app_now()`), for tests. */
  readonly clock?: () => Date;
};

/** A group of this many answers takes PGlite's only connection for about a tenth of a second. */
const MOST_TOGETHER = 8;

/**
 * The planner takes a plan for an array of one element for cheaper than the kept one and so plans the
 * statement again each time, which took a tenth of the server's time for a call.
 */
const KEEP_PLANS = 'set local plan_cache_mode = force_generic_plan;';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The store: transactions with a role, notifications, and nothing that runs outside of them. */
export class Database {
  readonly driver: Driver;
  /** Hears how long connections are waited for and transactions take, while one is taken. */
  trace: Trace | undefined;
  readonly #clock: (() => Date) | undefined;
  readonly #groups = new Map<string, TransactionGroup>();
  readonly #reads = new Map<string, TenantReads>();
  /** Read by the first transaction that takes one; migration 41 gives a store others. */
  #roles: StoreRoles | undefined;

  constructor(driver: Driver, options: DatabaseOptions = {}) {
    this.driver = driver;
    this.#clock = options.clock;
  }

  /** Runs `work` in one transaction under a scope; whatever it throws rolls everything back. */
  transaction<T>(scope: Scope, work: (tx: AnyTransaction) => Promise<T>): Promise<T> {
    return this.#run(scope, (client, begin) => new AnyTransaction(client, begin), work);
  }

  asTenant<T>(
    tenantId: string,
    work: (tx: Transaction) => Promise<T>,
    { keepsPlans = false }: { readonly keepsPlans?: boolean } = {},
  ): Promise<T> {
    const scope = { as: 'tenant', tenantId, keepsPlans } as const;
    return this.#run(scope, (client, begin) => new Transaction(client, begin, tenantId), work);
  }

  /** As `asTenant`, for long work that no job waits for: it takes no connection from jobs. */
  aside<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const scope = { as: 'tenant', tenantId } as const;
    return this.#run(
      scope,
      (client, begin) => new Transaction(client, begin, tenantId),
      work,
      'aside',
    );
  }

  /** Reads of a tenant that need no transaction of their own. */
  readsOf(tenantId: string): TenantReads {
    const known = this.#reads.get(tenantId) ?? new TenantReads(this, tenantId);
    this.#reads.set(tenantId, known);
    return known;
  }

  /**
   * Runs the last statements of a transaction (see `finish`) together with those of the same tenant and
   * group that wait at this moment, as one. What a group is must lock its rows in one order.
   */
  together<T>(tenantId: string, group: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const key = `${tenantId}/${group}`;
    const known = this.#groups.get(key) ?? new TransactionGroup(this, tenantId, MOST_TOGETHER);
    this.#groups.set(key, known);
    return known.add(work).finally(() => {
      if (known.isIdle) this.#groups.delete(key);
    });
  }

  asWorker<T>(work: (tx: AnyTransaction) => Promise<T>): Promise<T> {
    return this.transaction({ as: 'worker' }, work);
  }

  async #run<Tx extends AnyTransaction, T>(
    scope: Scope,
    open: (client: ClientBase, begin: string) => Tx,
    work: (tx: Tx) => Promise<T>,
    purpose = purposeOf(scope),
  ): Promise<T> {
    const held = await this.#acquire(purpose);
    let broken = false;
    let committing = false;
    let tx: Tx | undefined;
    try {
      const roles = this.#roles ?? (await this.#readRoles(scope, held.client));
      tx = open(held.client, this.#begin(scope, roles));
      const result = await work(tx);
      await tx.begin();
      const failure = tx.end();
      if (tx.isCommitted) return result;
      committing = true;
      const { command } = await held.client.query('commit');
      // PostgreSQL answers so where a statement failed, also if `work` passed over its error.
      if (command !== 'COMMIT') throw notSaved(failure);
      return result;
    } catch (error) {
      tx?.end();
      broken = await rollBack(held.client);
      throw this.#explain(error, committing || tx?.isFinishing === true);
    } finally {
      held.release(broken);
    }
  }

  /**
   * Runs statements without parameters as one transaction in one round trip and returns the rows of
   * the last query. For hot paths; the text must hold nothing that came from outside.
   */
  async immediate<Row extends QueryResultRow>(scope: Scope, statements: string): Promise<Row[]> {
    const held = await this.#acquire(purposeOf(scope));
    let broken = false;
    try {
      const roles = this.#roles ?? (await this.#readRoles(scope, held.client));
      const text = `${this.#begin(scope, roles)} ${statements}; commit`;
      const results = (await held.client.query(text)) as unknown as QueryResult<Row>[];
      return results.findLast((result) => result.command === 'SELECT')?.rows ?? [];
    } catch (error) {
      broken = await rollBack(held.client);
      throw this.#explain(error, true);
    } finally {
      held.release(broken);
    }
  }

  async close(): Promise<void> {
    await this.driver.close();
  }

  /** A connection; a trace notes the wait for it, and the time until it is given back. */
  async #acquire(purpose: Purpose): Promise<HeldConnection> {
    const { trace } = this;
    if (!trace) return this.driver.acquire(purpose);
    const [line, askedMs] = [trace.newLine(), elapsedMs()];
    const held = await this.driver.acquire(purpose);
    trace.add('store: wait for a connection', line, askedMs);
    const startMs = elapsedMs();
    return {
      client: held.client,
      release: (broken) => {
        trace.add(purpose === 'aside' ? 'store: aside' : 'store: transaction', line, startMs);
        held.release(broken);
      },
    };
  }

  #explain(error: unknown, committing: boolean): unknown {
    if (error instanceof DialecticError || !(error instanceof Error)) return error;
    const explained = this.driver.explain(error);
    if (!explained) return explainStatement(error);
    // The store went away before it answered: what was sent may be saved or not.
    return committing ? withDetails(explained, { outcome: 'unknown' }) : explained;
  }

  async #readRoles({ as }: Scope, client: ClientBase): Promise<StoreRoles> {
    if (as === 'owner') return rolesOf();
    const id = await readStoreId(client);
    if (id !== undefined) this.#roles = rolesOf(id);
    return rolesOf(id);
  }

  /** One round trip: SET LOCAL ends with the transaction, so a connection carries nothing on. */
  #begin(scope: Scope, roles: StoreRoles): string {
    const clock = this.#clock ? `set local dialectic.now = '${this.#clock().toISOString()}';` : '';
    switch (scope.as) {
      case 'owner':
        return `begin; ${clock}`;
      case 'worker':
        return `begin; set local role ${roles.worker}; ${clock}`;
      case 'auth':
        return `begin; set local role ${roles.auth}; ${clock}`;
      case 'tenant':
        if (!UUID.test(scope.tenantId)) {
          throw new DialecticError('usage_invalid', 'A tenant id must be a lower-case UUID.');
        }
        return `begin; set local role ${roles.app}; ${scope.keepsPlans ? KEEP_PLANS : ''}
          set local dialectic.tenant = '${scope.tenantId}'; ${clock}`;
    }
  }
}

const purposeOf = ({ as }: Scope): Purpose => (as === 'worker' ? 'queue' : 'work');

/** Returns whether the connection is beyond use. */
async function rollBack(client: ClientBase): Promise<boolean> {
  return client.query('rollback').then(
    () => false,
    () => true,
  );
}
