import type pg from 'pg';

/** What PostgreSQL says of a column that a statement gives back. */
export type Column = {
  readonly name: string;
  readonly dataTypeID: number;
  /** The table column that it is, 0 for an expression. */
  readonly tableID: number;
  readonly columnID: number;
};

type Wire = {
  parse(message: { text: string; name: string; types: number[] }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
};

/** Has a statement parsed and described without running it; node-postgres has no call for that. */
export function describeStatement(client: pg.Client, text: string): Promise<Column[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Column[]>();
  let columns: Column[] = [];
  const request = {
    submit(wire: Wire): void {
      wire.parse({ text, name: '', types: [] });
      wire.describe({ type: 'S', name: '' });
      wire.sync();
    },
    handleRowDescription(message: { fields: Column[] }): void {
      columns = message.fields;
    },
    handleError: reject,
    handleReadyForQuery: () => resolve(columns),
  };
  client.query(request as unknown as pg.Submittable);
  return promise;
}
