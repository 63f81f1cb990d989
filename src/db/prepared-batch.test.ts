import { beforeAll, expect, test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../../test/stores.ts';
import { watchTexts } from '../../test/watch-texts.ts';
import type { Database } from './database.ts';

describeOnBoth('statements with a name that are given together', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind, { connections: 1 });
    ({ tenantId } = await newTenant(database));
  });
  const add = (name: string, a: number, b: string) =>
    database.asTenant(tenantId, (tx) =>
      tx.finish(() =>
        Promise.all([
          tx.queryOne(`select $1::int + 1 as n, $2::text as t`, [a, b], name),
          tx.queryOne('select $1::int as plain', [a]),
        ]),
      ),
    );

  test('are prepared once by a connection and executed from then on', async () => {
    const sent = await watchTexts(database);
    const answers = [await add('add-one', 1, "it's"), await add('add-one', 2, '$1')];
    expect(answers).toEqual([
      [{ n: 2, t: "it's" }, { plain: 1 }],
      [{ n: 3, t: '$1' }, { plain: 2 }],
    ]);
    const texts = sent();
    expect(texts.filter((text) => text.includes('prepare "'))).toHaveLength(1);
    expect(texts.filter((text) => text.includes('execute "'))).toHaveLength(2);
  });

  test('are kept by the server without what came with them', async () => {
    await add('add-apart', 1, 'a long text');
    const kept = await database.asTenant(tenantId, (tx) =>
      tx.query(`select statement from pg_prepared_statements where name = 'batch_add-apart'`),
    );
    expect(kept).toEqual([{ statement: expect.not.stringContaining('a long text') }]);
  });

  test('are prepared under another name after a batch that failed', async () => {
    const failing = database.asTenant(tenantId, (tx) =>
      Promise.all([
        tx.query('select $1::int as n', [1], 'in-vain'),
        tx.query('select 1 / $1::int', [0]),
      ]),
    );
    await expect(failing).rejects.toMatchObject({ code: 'value_refused' });
    const again = () =>
      database.asTenant(tenantId, (tx) =>
        Promise.all([
          tx.query('select $1::int as n', [1], 'in-vain'),
          tx.query('select $1::int as n', [2], 'in-vain'),
        ]),
      );
    const both = [[{ n: 1 }], [{ n: 2 }]];
    expect([await again(), await again()]).toEqual([both, both]);
  });
});
