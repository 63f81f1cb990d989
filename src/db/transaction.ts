import type { ClientBase, QueryResult, QueryResultRow } from 'pg';
import { DialecticError } from '../errors/errors.ts';
import { nextTurn } from '../platform/clock.ts';
import { prepareBatch } from './prepared-batch.ts';
import { requireRow } from './require-row.ts';
import { type Turn, type WaitingStatement, WaitingStatements } from './waiting-statements.ts';

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
   * parameters are arrays, one for each column. What it returns is for all of them.
   */
  async queryForAll<Row extends QueryResultRow>(
    text: string,
    row: readonly unknown[],
    name: string,
    turn?: Turn,
  ): Promise<Row[]> {
    this.#refuseIfOver();
    return this.#sendSoon(this.#waiting.addRow(text, row, name, turn)) as Promise<Row[]>;
  }

  /** As `queryForAll`, where its only parameter is an object whose list `rows` holds all rows. */
  async queryForRows(
    text: string,
    rows: readonly object[],
    name: string,
    turn: Turn,
  ): Promise<void> {
    this.#refuseIfOver();
    await this.#sendSoon(this.#waiting.addRows(text, rows, name, turn));
  }

  #refuseIfOver(): void {
    if (this.#ended) throw misuse('A statement came after its transaction had ended.');
    if (this.#refusal !== undefined) throw this.#refusal;
  }

  /** The reason of what was given up tells more than that it is over. */
  #refuseToSend(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#refuseIfOver();
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
      this.#refuseToSend();
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
      // It may have been given up meanwhile: its rollback is sent, and the connection somebody else's.
      this.#refuseToSend();
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

/** For a transaction that PostgreSQL rolled back because one of its statements failed. */
export const notSaved = (cause: unknown): DialecticError =>
  misuse('A statement failed, so nothing was saved.', cause);
