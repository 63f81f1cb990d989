import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Database, Scope } from '../../src/db/database.ts';
import { describeOnBoth, openTestStore } from '../stores.ts';
import { type Call, type Known, listCalls, secretsOf } from './function-calls.ts';
import { insertSampleRows, tenantTables } from './sample-rows.ts';

describeOnBoth('functions between tenants', (kind) => {
  let database: Database;
  let own: string;
  let other: string;
  let known: Known;
  let calls: Call[];

  /** All rows of a tenant, table by table. */
  const rowsOf = (tenantId: string): Promise<Record<string, unknown>[]> =>
    database.transaction({ as: 'owner' }, async (tx) => {
      const rows: Record<string, unknown>[] = [];
      for (const table of await tenantTables(tx)) {
        const sql = `select * from ${table} t where tenant_id = $1 order by t::text`;
        rows.push(...(await tx.query(sql, [tenantId])));
      }
      return rows;
    });

  const attempt = async (scope: Scope, sql: string, before = 'select 1'): Promise<unknown> => {
    try {
      return await database.transaction(scope, async (tx) => {
        await tx.query(before);
        return tx.query(sql);
      });
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };

  beforeAll(async () => {
    database = await openTestStore(kind);
    [own, other] = [randomUUID(), randomUUID()];
    known = await database.transaction({ as: 'owner' }, async (tx) => {
      for (const tenantId of [own, other]) await insertSampleRows(tx, tenantId);
      const ids = await tx.queryOne<Record<string, string>>(
        `select tenant_id, (select id from sessions where tenant_id = $1) as session_id,
           (select id from projects where tenant_id = $1) as project_id,
           (select id from jobs where tenant_id = $1) as job_id,
           (select id from model_calls where tenant_id = $1) as call_id
         from tenants where tenant_id = $1`,
        [other],
      );
      return { ...ids, owner: other };
    });
    const { client, release } = await database.driver.acquire();
    calls = await listCalls(client, known).finally(release);
    expect(calls.length).toBeGreaterThan(150);
  });

  test('a tenant reads and changes nothing of another one with its ids, whatever it calls', async () => {
    const before = await rowsOf(other);
    const secrets = secretsOf(before, known);
    expect(secrets.length).toBeGreaterThan(30);
    for (const { sql } of calls) {
      const told = JSON.stringify(await attempt({ as: 'tenant', tenantId: own }, sql));
      expect(
        secrets.filter((secret) => told.includes(secret)),
        sql,
      ).toEqual([]);
    }
    expect(await rowsOf(other)).toEqual(before);
  });

  test('who has taken no role of a tenant is refused by each function with rights of its own', async () => {
    const names = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query<{ name: string }>(
        `select oid::regprocedure::text as name from pg_proc
         where pronamespace = 'public'::regnamespace and prosecdef order by 1`,
      ),
    );
    expect(names.length).toBeGreaterThanOrEqual(14);
    const before = await rowsOf(other);
    for (const { name } of names) {
      for (const { sql } of calls.filter((call) => call.name === name)) {
        for (const as of ['owner', 'worker', 'auth'] as const) {
          const answer = await attempt({ as }, sql, `set local dialectic.tenant = '${other}'`);
          expect(answer, `${as}: ${sql}`).toBe('access_denied');
        }
        const stranger = await attempt({ as: 'tenant', tenantId: own }, sql);
        if (name !== 'event_horizon()') expect(stranger, sql).toBe('access_denied');
      }
    }
    expect(await rowsOf(other)).toEqual(before);
  });
});
