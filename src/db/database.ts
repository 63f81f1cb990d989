import type { ClientBase, QueryResult, QueryResultRow } from 'pg';
import { DialecticError, withDetails } from '../errors/errors.ts';
import { elapsedMs, nextTurn } from '../platform/clock.ts';
import type { Trace } from '../platform/trace.ts';
import type { Driver, HeldConnection, Purpose } from './driver.ts';
import { explainStatement } from './explain-statement.ts';
import { prepareBatch } from './prepared-batch.ts';
import { requireRow } from './require-row.ts';
import { TenantReads } from './tenant-reads.ts';
import { TransactionGroup } from './transaction-group.ts';
import { type Turn, type WaitingStatement, WaitingStatements } from './waiting-statements.ts';

/**
 * As whom a transaction runs. `tenant` sees one tenant's rows; `worker` sees what jobs need, of
 * all; `auth` finds tenants and tokens; `owner` is for migrations alone.
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

/** A group of this many answers takes PGlite's only connection for about a tenth of a second. */
const MOST_TOGETHER = 8;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * One open transaction, of any scope. Its statements cannot begin or end a transaction, and they are
 * refused once this one is over: the connection may be another tenant's by then. The row types that
 * callers give are compared with the database's own description by test/contract/row-types.test.ts.
 */
export class AnyTransaction {
  readonly #client: ClientBase;
  #begin: string | undefined;
  #ended = false;
  #failure: unknown;
  /** Why the transaction could not begin. */
  #refusal: unknown;
  readonly #waiting = new WaitingStatements();
  #willSend = false;
  /** From finish() on: the statements that are waiting are sent with the commit. */
  #finishing = false;
  #committed = false;
  /** Resolves when all that was sent is answered. */
  #sent: Promise<void> = Promise.resolve();

  /** `begin` is sent with the first statements. */
  constructor(client: ClientBase, begin: string) {
    this.#client = client;
    this.#begin = begin;
  }

  /**
   * Runs one statement; with a `name` the server keeps its plan for the next time, unless it goes with
   * others. Statements that are given before the first of them was awaited go to the server together,
   * in their order: one round trip, and where one fails none of them has an answer.
   */
  async query<Row extends QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<Row[]> {
    this.#refuseIfOver();
    if (ENDS_TRANSACTION.test(text)) {
      throw misuse('A transaction cannot be begun or ended inside of a transaction.');
    }
    return this.#sendSoon(this.#waiting.add(text, values, name)) as Promise<Row[]>;
  }

  /**
   * Runs one statement for all rows that are given under its name before it is sent: behind what was
   * given before the last of them or, with a turn, behind the statements of the turns before it. Its
   * parameters are arrays, one for each column.
   */
  async queryForAll(
    text: string,
    row: readonly unknown[],
    name: string,
    turn?: Turn,
  ): Promise<void> {
    this.#refuseIfOver();
    await this.#sendSoon(this.#waiting.addRow(text, row, name, turn));
  }

  #refuseIfOver(): void {
    if (this.#ended) throw misuse('A statement came after its transaction had ended.');
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /** The first statement that waits has all of them sent that are given until then. */
  #sendSoon({ promise }: WaitingStatement): Promise<QueryResultRow[]> {
    if (!this.#willSend) {
      this.#willSend = true;
      const send = (): void => {
        const batch = this.#waiting.take();
        this.#willSend = false;
        this.#sent = this.#sent.then(() => this.#send(batch));
      };
      if (this.#finishing) void nextTurn().then(send);
      else queueMicrotask(send);
    }
    return promise;
  }

  /**
   * Runs the last statements of the transaction: those that `work` gives before it awaits one of them
   * go to the server with the commit, in one round trip. Whatever speaks against the transaction must
   * be raised by one of them, or thrown before the first is awaited; later it rolls nothing back.
   */
  async finish<T>(work: () => Promise<T>): Promise<T> {
    this.#finishing = true;
    const done = work();
    // What was thrown meanwhile is known before the next turn, in which the statements are sent.
    done.catch((error: unknown) => {
      this.#refusal ??= error;
    });
    return done;
  }

  /** Whether the commit was sent with the last statements and has been made. */
  get isCommitted(): boolean {
    return this.#committed;
  }

  /** Whether the commit was or is to be sent with the last statements. */
  get isFinishing(): boolean {
    return this.#finishing;
  }

  /**
   * Sends a batch when the one before it was answered: a text that the server cannot parse begins
   * nothing, and what came behind it would be of no transaction and of no tenant.
   */
  async #send(batch: readonly WaitingStatement[]): Promise<void> {
    const isFirst = this.#begin !== undefined;
    try {
      if (this.#refusal !== undefined) throw this.#refusal;
      if (this.#ended) throw misuse('A statement came after its transaction had ended.');
      const rows = await this.#ask(batch);
      for (const [at, { resolve }] of batch.entries()) resolve(rows[at] ?? []);
    } catch (error) {
      this.#failure ??= error;
      this.#refusal ??= isFirst ? error : undefined;
      for (const { reject } of batch) reject(error);
    }
  }

  async #ask(batch: readonly WaitingStatement[]): Promise<QueryResultRow[][]> {
    const [first, second] = batch;
    const begin = this.#begin;
    const isLast = this.#finishing;
    if (first && !second && begin === undefined && !isLast) {
      const { text, values, name } = first;
      const statement = { text, ...(values && { values: [...values] }), ...(name && { name }) };
      return [(await this.#client.query(statement)).rows];
    }
    const { preparing, texts, made, failed } = prepareBatch(this.#client, batch);
    this.#begin = undefined;
    if (preparing.length > 0) {
      const own = begin === undefined ? [] : ['commit'];
      const prepared = this.#exec(begin, [...preparing, ...own]);
      prepared.then(made, failed);
      await prepared;
    }
    const results = await this.#exec(begin, [...texts, ...(isLast ? ['commit'] : [])]);
    if (isLast) this.#end(results.pop());
    return results.slice(-batch.length).map(({ rows }) => rows);
  }

  async #exec(begin: string | undefined, texts: readonly string[]): Promise<QueryResult[]> {
    const answered = this.#client.query(`${begin ?? ''} ${texts.join('\n;\n')}`);
    return [(await answered) as QueryResult | QueryResult[]].flat();
  }

  /** PostgreSQL answers a commit with ROLLBACK where a statement failed before. */
  #end(commit: QueryResult | undefined): void {
    this.#ended = true;
    if (commit?.command !== 'COMMIT') throw notSaved(this.#failure);
    this.#committed = true;
  }

  /** Waits for what was given, and begins where no statement has done so. */
  async begin(): Promise<void> {
    await this.#sent;
    if (this.#refusal !== undefined) throw notSaved(this.#refusal);
    const begin = this.#begin;
    this.#begin = undefined;
    if (begin !== undefined) await this.#client.query(begin);
  }

  /** As `query`, for a statement that always gives a row. */
  async queryOne<Row extends QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<Row> {
    return requireRow(await this.query<Row>(text, values, name), text);
  }

  /** Lets no further statement through; returns the first failure of one, if any. */
  end(): unknown {
    this.#ended = true;
    return this.#failure;
  }
}

/**
 * A transaction of one tenant. Row-level security shows it that tenant's rows alone, so its
 * statements have no condition on the tenant; inserts and calls of SQL functions name it.
 */
export class Transaction extends AnyTransaction {
  readonly tenantId: string;

  constructor(client: ClientBase, begin: string, tenantId: string) {
    super(client, begin);
    this.tenantId = tenantId;
  }
}

/** What asks for the rows of one tenant: a transaction, or reads that need none of their own. */
export type TenantQueries = Pick<Transaction, 'tenantId' | 'query' | 'queryOne'>;

const ENDS_TRANSACTION = /^\s*(begin|start|commit|end|rollback(?!\s+to\b)|abort|prepare\s+tr)\b/i;

const misuse = (message: string, cause?: unknown): DialecticError =>
  new DialecticError('internal_error', message, { cause });

const notSaved = (cause: unknown): DialecticError =>
  misuse('A statement failed, so nothing was saved.', cause);

/** The store: transactions with a role, notifications, and nothing that runs outside of them. */
export class Database {
  readonly driver: Driver;
  /** Hears how long connections are waited for and transactions take, while one is taken. */
  trace: Trace | undefined;
  readonly #clock: (() => Date) | undefined;
  readonly #groups = new Map<string, TransactionGroup>();
  readonly #reads = new Map<string, TenantReads>();

  constructor(driver: Driver, options: DatabaseOptions = {}) {
    this.driver = driver;
    this.#clock = options.clock;
  }

  /** Runs `work` in one transaction under a scope; whatever it throws rolls everything back. */
  transaction<T>(scope: Scope, work: (tx: AnyTransaction) => Promise<T>): Promise<T> {
    return this.#run(scope, (client, begin) => new AnyTransaction(client, begin), work);
  }

  asTenant<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const scope = { as: 'tenant', tenantId } as const;
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
      tx = open(held.client, this.#begin(scope));
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
      const text = `${this.#begin(scope)} ${statements}; commit`;
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

  /** One round trip: SET LOCAL ends with the transaction, so a connection carries nothing on. */
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

const purposeOf = ({ as }: Scope): Purpose => (as === 'worker' ? 'queue' : 'work');

/** Returns whether the connection is beyond use. */
async function rollBack(client: ClientBase): Promise<boolean> {
  return client.query('rollback').then(
    () => false,
    () => true,
  );
}
