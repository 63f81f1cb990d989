import type pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { findInstalledServers, startPostgres } from '../postgres-server.ts';
import { afterTheFile, openStore } from '../stores.ts';
import { listCalls, secretsOf } from './function-calls.ts';
import {
  type Account,
  asAdmin,
  connect,
  digestOf,
  fillStore,
  type Making,
  makeAccount,
  rowsOf,
  tablesOf,
} from './owned-stores.ts';

const DENIED = '42501';

/** How a statement of an attacker ended: the code of its refusal, or what it gave. */
async function outcomeOf(client: pg.Client, sql: string): Promise<string> {
  try {
    const { rows } = await client.query(sql);
    return `went through with ${rows.length} rows`;
  } catch (error) {
    await client.query('rollback');
    return (error as { code?: string }).code ?? String(error);
  }
}

/** Every statement of the tenant matrix, and what somebody with no right in the store would try. */
const statementsOn = (table: string): string[] => [
  `select * from ${table}`,
  `select * from ${table} where tenant_id = '${LOCAL_TENANT}' for update`,
  `insert into ${table} default values`,
  `insert into ${table} (tenant_id) values ('${LOCAL_TENANT}')`,
  `update ${table} set tenant_id = tenant_id`,
  `update ${table} set tenant_id = '${LOCAL_TENANT}' where tenant_id <> '${LOCAL_TENANT}'`,
  `delete from ${table} where tenant_id = '${LOCAL_TENANT}'`,
  `truncate ${table} cascade`,
  `begin; lock table ${table}`,
  `copy ${table} to stdout`,
  `alter table ${table} disable row level security`,
  `create policy mine on ${table} using (true)`,
  `create trigger mine before insert on ${table} execute function refuse_change()`,
  `grant all on ${table} to public`,
  `drop table ${table} cascade`,
];

/** What is no row of a tenant, and the ways to make oneself at home in a database. */
const BESIDE = [
  'select * from store_identity',
  'select * from schema_migrations',
  'select * from store_epoch',
  "update store_identity set id = '000000000000'",
  "update schema_migrations set digest = ''",
  'update store_epoch set epoch = default',
  'create table public.mine ()',
  'create function public.is_over(varchar) returns boolean language sql return false',
  'create schema mine',
  'create temporary table mine ()',
];

/** `making` says how the owners of the stores came by their roles. */
function describeServer(title: string, making: Making, findServer: () => Promise<string>): void {
  describe(title, () => {
    let store: Account;
    let other: Account;
    let stranger: Account;
    let roles: string[];
    let before: string;
    let known: Awaited<ReturnType<typeof fillStore>>;

    beforeAll(async () => {
      const server = await findServer();
      store = await makeAccount(server, making);
      other = await makeAccount(server, making);
      stranger = await makeAccount(server, 'nothing');
      known = await fillStore(store);
      await fillStore(other);
      const id = await asAdmin(store.adminUrl, async (client) => {
        const { rows } = await client.query<{ id: string }>('select id from store_identity');
        return rows[0]!.id;
      });
      roles = ['app', 'worker', 'auth'].map((kind) => `dialectic_${kind}_${id}`);
      before = await digestOf(store);
    });

    test('nobody but the owner of a store can connect to its database', async () => {
      for (const { login } of [other, stranger]) {
        const url = Object.assign(new URL(store.url), { username: login }).href;
        await expect(connect(url), login).rejects.toMatchObject({ code: DENIED });
      }
    });

    test.each(['the owner of another store', 'a stranger'])(
      'who can connect, %s, reads nothing there and changes nothing',
      async (who) => {
        const { login } = who === 'a stranger' ? stranger : other;
        const owner = await connect(store.url);
        await owner.query(`grant connect on database ${store.login} to ${login}`);
        const url = Object.assign(new URL(store.url), { username: login }).href;
        const client = await connect(url);
        const calls = await listCalls(client, known);
        expect(calls.length).toBeGreaterThan(150);
        const tables = await tablesOf(store);
        expect(tables.length).toBeGreaterThan(25);
        const statements = [
          ...roles.flatMap((role) => [
            `set role ${role}`,
            `grant ${role} to ${login}`,
            `alter role ${role} login password 'x'`,
            `drop role ${role}`,
            `reassign owned by ${role} to ${login}`,
          ]),
          `set role ${store.login}`,
          `set session authorization ${store.login}`,
          `grant ${store.login} to ${login}`,
          ...BESIDE,
          ...tables.flatMap(statementsOn),
          ...calls.map(({ sql }) => sql),
        ];
        await client.query(`set dialectic.tenant = '${LOCAL_TENANT}'`);
        const own = await rolesOf(other);
        for (const role of ['none', ...(who === 'a stranger' ? [] : own)]) {
          await client.query(`set role ${role}`);
          const allowed: string[] = [];
          for (const sql of statements) {
            const outcome = await outcomeOf(client, sql);
            if (outcome !== DENIED) allowed.push(`${sql}: ${outcome}`);
          }
          expect(allowed, role).toEqual([]);
        }
        expect(await digestOf(store)).toBe(before);
      },
      60_000,
    );

    test('a tenant of a store reads and changes nothing of another tenant of it', async () => {
      const tables = await tablesOf(store);
      const before = await rowsOf(store, tables, LOCAL_TENANT);
      const secrets = secretsOf(before, known);
      expect(secrets.length).toBeGreaterThan(30);
      const tenants = 'select tenant_id as id from tenants where tenant_id <> $1';
      const { rows } = await asAdmin(store.adminUrl, (client) =>
        client.query<{ id: string }>(tenants, [LOCAL_TENANT]),
      );
      const database = await openStore({ databaseUrl: store.url });
      const { client, release } = await database.driver.acquire();
      const calls = await listCalls(client, known).finally(release);
      for (const sql of [...tables.flatMap(statementsOn), ...calls.map((call) => call.sql)]) {
        const asked = database.asTenant(rows[0]!.id, (tx) => tx.query(sql));
        const told = JSON.stringify(await asked.catch(() => 'refused'));
        expect(
          secrets.filter((secret) => told.includes(secret)),
          sql,
        ).toEqual([]);
      }
      expect(await rowsOf(store, tables, LOCAL_TENANT)).toEqual(before);
    }, 60_000);
  });
}

const rolesOf = (account: Account): Promise<string[]> =>
  asAdmin(account.adminUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select 'dialectic_' || kind || '_' || id as name
       from store_identity, unnest(array['app', 'worker', 'auth']) as kind`,
    );
    return rows.map(({ name }) => name);
  });

const shared = async (): Promise<string> => inject('postgresUrl');
describeServer('stores of owners who make their roles', 'createrole', shared);
describeServer('stores whose roles an administrator made', 'prepared', shared);

const installed = findInstalledServers();
const startInstalled = (programs: string) => async (): Promise<string> => {
  const server = await startPostgres(['fsync=off'], programs);
  afterTheFile(() => server.stop());
  return server.url;
};
for (const { version, programs } of installed) {
  // On version 15 a login with CREATEROLE can take any role, so that no login must keep it.
  const makings: Making[] = version < 16 ? ['prepared'] : ['prepared', 'createrole'];
  for (const making of makings) {
    const title = `stores on an installed PostgreSQL ${version} (${making})`;
    describeServer(title, making, startInstalled(programs));
  }
}
test.skipIf(installed.some(({ version }) => version === 15))(
  'a stock PostgreSQL 15 is not installed here',
  (context) => context.skip(),
);
