import type { QueryResultRow } from 'pg';
import type { Database } from './database.ts';
import { requireRow } from './require-row.ts';
import { TransactionGroup } from './transaction-group.ts';

/** A load has some ten statements, and a wave of a debate some tens of loads. */
const MOST = 100;

/**
 * Statements of one tenant that only read. Those that are given while others are under way go to the
 * server together, as one transaction in one round trip, and what several ask for is asked once: the
 * jobs of a wave begin at once, and most of what they read is the same. The rows are shared, so
 * nobody may change them. Two statements that do not go together may see different states.
 */
export class TenantReads {
  readonly tenantId: string;
  readonly #group: TransactionGroup;
  /** What is not sent yet: an answer to what was sent before would be older than the question. */
  readonly #waiting = new Map<string, Promise<QueryResultRow[]>>();

  constructor(database: Database, tenantId: string) {
    this.tenantId = tenantId;
    this.#group = new TransactionGroup(database, tenantId, MOST);
  }

  /** As of a transaction. */
  async query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
    name?: string,
  ): Promise<Row[]> {
    const key = `${text}\n${JSON.stringify(values)}`;
    const asked = this.#waiting.get(key) ?? this.#ask(key, text, values, name);
    return asked as Promise<Row[]>;
  }

  #ask(key: string, text: string, values: readonly unknown[], name: string | undefined) {
    const asked = this.#group.add((tx) => {
      this.#waiting.delete(key);
      return tx.query(text, values, name);
    });
    this.#waiting.set(key, asked);
    // Without a connection it is never sent; who asks again then must not get the old failure.
    asked.catch(() => {
      if (this.#waiting.get(key) === asked) this.#waiting.delete(key);
    });
    return asked;
  }

  /** As of a transaction. */
  async queryOne<Row extends QueryResultRow>(
    text: string,
    values?: readonly unknown[],
    name?: string,
  ): Promise<Row> {
    return requireRow(await this.query<Row>(text, values, name), text);
  }
}
