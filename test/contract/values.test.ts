import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('values', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  test('come back as the same JavaScript types from both databases', async () => {
    const [row] = await database.asTenant(tenantId, (tx) =>
      tx.query(`select 9007199254740991::int8 as int8, 7::int4 as int4, 1.50::numeric as numeric,
        true as bool, 0.5::float8 as float8, 'x'::text as text, '2026-01-02'::date as date,
        '2026-01-02T03:04:05.678Z'::timestamptz as at, '{"a":[1,null]}'::jsonb as json,
        '\\x00ff'::bytea as bytes, array[1, 2]::int8[] as ints, array['a,b', null] as texts,
        null::text as nothing, count(*) as count, '42'::xid8::text as xid from (values (1)) v`),
    );
    expect(row).toEqual({
      int8: 9007199254740991,
      int4: 7,
      numeric: '1.50',
      bool: true,
      float8: 0.5,
      text: 'x',
      date: '2026-01-02',
      at: new Date('2026-01-02T03:04:05.678Z'),
      json: { a: [1, null] },
      bytes: Buffer.from([0, 255]),
      ints: [1, 2],
      texts: ['a,b', null],
      nothing: null,
      count: 1,
      xid: '42',
    });
  });

  test('go in as they came out', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    const values = [at, { a: [1] }, Buffer.from([0, 1, 255]), ['x', 'y"'], 2 ** 53 - 1, false];
    const [row] = await database.asTenant(tenantId, (tx) =>
      tx.query(
        `select $1::timestamptz as a, $2::jsonb as b, $3::bytea as c, $4::text[] as d,
           $5::int8 as e, $6::bool as f`,
        values,
      ),
    );
    expect(Object.values(row!)).toEqual(values);
  });

  test('refuse an int8 that a number cannot hold, and the connection stays usable', async () => {
    const read = database.asTenant(tenantId, (tx) =>
      tx.query('select 9007199254740993::int8 as x'),
    );
    await expect(read).rejects.toThrow('int8 out of safe range');
    const rows = await database.asTenant(tenantId, (tx) => tx.query('select 1 as one'));
    expect(rows).toEqual([{ one: 1 }]);
  });

  test('a constraint violation is a conflict that names the constraint and no row', async () => {
    const insert = database.transaction({ as: 'auth' }, (tx) =>
      tx.query('insert into tenants (tenant_id, name) values ($1, $2)', [tenantId, 'again']),
    );
    await expect(insert).rejects.toMatchObject({
      code: 'conflict',
      message: expect.not.stringMatching(/violates|duplicate/),
      details: { constraint: 'tenants_pkey' },
    });
  });

  test.each([
    ['a NUL', 'select $1::text', 'a\0b', 'NUL'],
    ['a NUL within JSON', 'select $1::jsonb', '{"a":"\\u0000"}', 'NUL'],
    ['no id', 'select $1::uuid', 'x', 'malformed'],
    ['a number beyond its type', 'select $1::int4', '9999999999', 'too large'],
  ])('%s is refused by a code and in our words', async (_, statement, value, said) => {
    const read = database.asTenant(tenantId, (tx) => tx.query(statement, [value]));
    await expect(read).rejects.toMatchObject({
      code: 'value_refused',
      message: expect.stringMatching(new RegExp(`^The database refused what was given: .*${said}`)),
    });
  });
});

describeOnBoth('the SQL clock', (kind) => {
  test('is the one that a test gives', async () => {
    let now = new Date('2031-05-06T07:08:09.000Z');
    const database = await openTestStore(kind, { clock: () => now });
    const read = () => database.asWorker((tx) => tx.query('select app_now() as now'));
    expect(await read()).toEqual([{ now }]);
    now = new Date('2030-01-01T00:00:00.000Z');
    expect(await read()).toEqual([{ now }]);
  });

  test("is the database's own otherwise", async () => {
    const database = await openTestStore(kind);
    const [row] = await database.asWorker((tx) =>
      tx.query('select abs(extract(epoch from app_now() - clock_timestamp())) < 5 as close'),
    );
    expect(row).toEqual({ close: true });
  });
});
