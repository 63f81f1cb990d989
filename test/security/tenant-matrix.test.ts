import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Database, Scope } from '../../src/db/database.ts';
import { authenticate, issueToken } from '../../src/db/tenants.ts';
import type { AnyTransaction } from '../../src/db/transaction.ts';
import { storeRoles } from '../store-roles.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { alternateTenants } from './alternate-tenants.ts';
import { insertRow, insertSampleRows, sampleRow, tenantTables } from './sample-rows.ts';

/** 'rows' means that the statement touched or saw that many; a code means that it was refused. */
type Outcome = number | string;

async function outcome(
  database: Database,
  scope: Scope,
  work: (tx: AnyTransaction) => Promise<unknown[]>,
): Promise<Outcome> {
  try {
    return await database.transaction(scope, async (tx) => (await work(tx)).length);
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const HARMLESS: readonly Outcome[] = [0, 'access_denied'];

/** All that the roles which see more than one tenant may do; a new table is closed to them. */
const ACROSS_TENANTS: Record<'worker' | 'auth', Record<string, string>> = {
  worker: {
    store_epoch: 'select',
    events: 'select',
    notices: 'insert',
    sessions: 'select update',
    lanes: 'select',
    stage_runs: 'select update',
    lane_steps: 'select insert update',
    concurrency_limits: 'select insert update delete',
    jobs: 'select insert update',
  },
  auth: { tenants: 'select insert', users: 'select insert', api_tokens: 'select' },
};

describeOnBoth('tenant isolation', (kind) => {
  let database: Database;
  let own: { tenantId: string };
  let other: { tenantId: string };
  let tables: string[];
  let before: string;

  const everything = () =>
    database.transaction({ as: 'owner' }, async (tx) => {
      const rows: unknown[] = [];
      for (const table of tables) rows.push(await tx.query(`select * from ${table} order by 1, 2`));
      return JSON.stringify(rows);
    });

  beforeAll(async () => {
    database = await openTestStore(kind);
    own = { tenantId: randomUUID() };
    other = { tenantId: randomUUID() };
    await database.transaction({ as: 'owner' }, async (tx) => {
      for (const { tenantId } of [own, other]) await insertSampleRows(tx, tenantId);
      tables = await tenantTables(tx);
    });
    before = await everything();
  });

  test('covers every table, with a row of each tenant in it', async () => {
    expect(tables.length).toBeGreaterThanOrEqual(5);
    for (const table of tables) {
      const rows = await database.transaction({ as: 'owner' }, (tx) =>
        tx.query(`select distinct tenant_id from ${table}`),
      );
      expect(rows.length, table).toBe(2);
    }
  });

  test("no statement reads, changes, adds or takes over another tenant's rows", async () => {
    const scope: Scope = { as: 'tenant', tenantId: own.tenantId };
    const theirs = other.tenantId;
    for (const table of tables) {
      const foreign = await database.transaction({ as: 'owner' }, (tx) =>
        sampleRow(tx, table, theirs),
      );
      const attempts: [string, (tx: AnyTransaction) => Promise<unknown[]>][] = [
        ['select', (tx) => tx.query(`select * from ${table} where tenant_id = $1`, [theirs])],
        [
          'select all',
          (tx) => tx.query(`select * from ${table} where tenant_id <> $1`, [own.tenantId]),
        ],
        [
          'lock',
          (tx) => tx.query(`select * from ${table} where tenant_id = $1 for update`, [theirs]),
        ],
        ['insert', async (tx) => [await insertRow(tx, table, foreign)]],
        [
          'update',
          (tx) =>
            tx.query(`update ${table} set tenant_id = tenant_id where tenant_id = $1 returning 1`, [
              theirs,
            ]),
        ],
        [
          'delete',
          (tx) => tx.query(`delete from ${table} where tenant_id = $1 returning 1`, [theirs]),
        ],
        [
          'give away',
          (tx) =>
            tx.query(`update ${table} set tenant_id = $1 where tenant_id = $2 returning 1`, [
              theirs,
              own.tenantId,
            ]),
        ],
        [
          'take',
          (tx) =>
            tx.query(`update ${table} set tenant_id = $2 where tenant_id = $1 returning 1`, [
              theirs,
              own.tenantId,
            ]),
        ],
        ['truncate', (tx) => tx.query(`truncate ${table} cascade`)],
      ];
      for (const [name, attempt] of attempts) {
        expect(HARMLESS, `${name} ${table}`).toContain(await outcome(database, scope, attempt));
      }
    }
    expect(await everything()).toBe(before);
  });

  test('a transaction without a tenant sees and changes nothing', async () => {
    const { app } = await storeRoles(database);
    const scope: Scope = { as: 'owner' };
    const bare = (sql: string) =>
      outcome(database, scope, async (tx) => {
        await tx.query(`set local role ${app}`);
        return tx.query(sql);
      });
    for (const table of tables) {
      expect(HARMLESS, table).toContain(await bare(`select * from ${table}`));
      expect(HARMLESS, table).toContain(
        await bare(`update ${table} set tenant_id = tenant_id returning 1`),
      );
      expect(HARMLESS, table).toContain(await bare(`delete from ${table} returning 1`));
      const added = await outcome(database, scope, async (tx) => {
        const row = await sampleRow(tx, table, own.tenantId);
        await tx.query(`set local role ${app}`);
        return [await insertRow(tx, table, row)];
      });
      expect(HARMLESS, `insert ${table}`).toContain(added);
    }
    expect(await everything()).toBe(before);
  });

  test('an ended token reaches no table', async () => {
    const ended = await issueToken(database, await newTenant(database, 'third'), {
      name: 'old',
      expiresAt: new Date(0),
    });
    for (const table of tables) {
      const read = authenticate(database, ended.token).then(({ tenantId }) =>
        database.asTenant(tenantId, (tx) => tx.query(`select * from ${table}`)),
      );
      await expect(read, table).rejects.toMatchObject({ code: 'token_expired' });
    }
  });

  test.each(['worker', 'auth'] as const)('%s reaches what is listed here', async (as) => {
    const may = ACROSS_TENANTS[as];
    const { [as]: role } = await storeRoles(database);
    const rows = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query<{ name: string; rights: string }>(
        `select c.relname as name, string_agg(right_name, ' ' order by place) as rights
         from pg_class c, unnest(array['select', 'insert', 'update', 'delete', 'truncate'])
           with ordinality as r (right_name, place)
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')
           and has_table_privilege($1, c.oid, right_name) group by 1`,
        [role],
      ),
    );
    expect(Object.fromEntries(rows.map(({ name, rights }) => [name, rights]))).toEqual(may);
    const scope: Scope = { as };
    for (const table of tables.filter((name) => !may[name]?.includes('select'))) {
      const seen = await outcome(database, scope, (tx) => tx.query(`select * from ${table}`));
      expect(seen, table).toBe('access_denied');
    }
  });

  test('a tenant id that is no id is refused before it reaches a statement', async () => {
    const attack = database.asTenant("x'; reset role; --", (tx) => tx.query('select 1'));
    await expect(attack).rejects.toMatchObject({ code: 'usage_invalid' });
  });

  test('2,000 alternating transactions on a pool never see the tenant before', async () => {
    await alternateTenants(database, [own, other], 2_000);
  });
});
