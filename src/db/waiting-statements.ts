import type { QueryResultRow } from 'pg';

/**
 * The turns of statements that several jobs give for one transaction: rows are locked first, each row
 * comes behind those that it refers to, and the account that pays is locked late, since every call of
 * the tenant waits for it.
 */
const TURNS = [
  'locks',
  'texts',
  'new calls',
  'requests',
  'chunks',
  'replacements',
  'documents',
  'money',
  'calls',
  'children',
  'ends',
  'claims',
] as const;
export type Turn = (typeof TURNS)[number];

/** A statement that is not sent yet. */
export type WaitingStatement = {
  readonly text: string;
  readonly values: readonly unknown[] | undefined;
  readonly name: string | undefined;
  readonly turn: number;
  readonly promise: Promise<QueryResultRow[]>;
  readonly resolve: (rows: QueryResultRow[]) => void;
  readonly reject: (error: unknown) => void;
};

/** The statements of a transaction that are sent next, together. */
export class WaitingStatements {
  #all: WaitingStatement[] = [];
  #turn = 0;

  /** Adds a statement; it keeps its place behind the one that was given before it. */
  add(
    text: string,
    values: readonly unknown[] | undefined,
    name: string | undefined,
  ): WaitingStatement {
    const settled = Promise.withResolvers<QueryResultRow[]>();
    const statement = { text, values, name, turn: this.#turn, ...settled };
    this.#all.push(statement);
    return statement;
  }

  /**
   * Adds a row to the statement of a name, whose values are arrays, one for each column. With a turn
   * it goes before what is given behind it; without one it goes in the place of its last row.
   */
  addRow(text: string, row: readonly unknown[], name: string, turn?: Turn): WaitingStatement {
    if (turn) this.#turn = TURNS.indexOf(turn);
    const known = this.#all.find((one) => one.name === name);
    const statement =
      known ??
      this.add(
        text,
        row.map(() => []),
        name,
      );
    const columns = (statement.values ?? []) as readonly unknown[][];
    for (const [at, value] of row.entries()) columns[at]?.push(value);
    if (known && !turn) {
      const last = { ...known, turn: this.#turn };
      this.#all = [...this.#all.filter((one) => one !== known), last];
    }
    return statement;
  }

  /** As `addRow`, where the only value is a list of `rows` as JSON. */
  addRows(text: string, rows: readonly object[], name: string, turn: Turn): WaitingStatement {
    this.#turn = TURNS.indexOf(turn);
    const known = this.#all.find((one) => one.name === name);
    const statement = known ?? this.add(text, [{ rows: [] }], name);
    const [list] = statement.values as readonly [{ readonly rows: object[] }];
    list.rows.push(...rows);
    return statement;
  }

  /** Takes all of them, turn by turn. */
  take(): readonly WaitingStatement[] {
    const all = this.#all.toSorted((a, b) => a.turn - b.turn);
    this.#all = [];
    this.#turn = 0;
    return all;
  }
}
