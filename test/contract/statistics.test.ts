import { expect, test } from 'vitest';
import { describeOnBoth, openTestStore } from '../stores.ts';

describeOnBoth('a store that nobody has analysed', (kind) => {
  test('is planned for one tenant with few projects and sessions', async () => {
    const database = await openTestStore(kind);
    const rows = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query<{ column: string; values: number }>(
        `select attname as column, n_distinct as values from pg_stats
         where schemaname = 'public' and tablename = 'documents' order by attname`,
      ),
    );
    expect(rows).toEqual([
      { column: 'session_id', values: 10 },
      { column: 'tenant_id', values: 1 },
    ]);
  });
});
