import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { writePreparation } from '../../src/db/prepare-database.ts';
import { ServerDriver } from '../../src/db/server-driver.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { afterTheFile } from '../stores.ts';
import type { Known } from './function-calls.ts';
import { insertSampleRows, tenantTables } from './sample-rows.ts';

/** A login of a server and the database that it owns. */
export type Account = { readonly login: string; readonly url: string; readonly adminUrl: string };

/** How a login comes by the roles of its store: it makes them, or an administrator has. */
export type Making = 'createrole' | 'prepared';

/** Makes a login, and a database of its own. */
export async function makeAccount(serverUrl: string, making: Making | 'nothing') {
  const login = `${making}_${randomBytes(4).toString('hex')}`;
  const address = new URL(serverUrl);
  const adminUrl = Object.assign(new URL(address), { pathname: `/${login}` }).href;
  const url = Object.assign(new URL(adminUrl), { username: login }).href;
  await asAdmin(serverUrl, async (client) => {
    await client.query(`create role ${login} login ${making === 'createrole' ? 'createrole' : ''}`);
    await client.query(`create database ${login} owner ${login}`);
  });
  if (making === 'prepared') {
    await asAdmin(adminUrl, (client) => client.query(writePreparation({ databaseUrl: url })));
  }
  return { login, url, adminUrl } satisfies Account;
}

/** Runs `work` on a connection of its own. */
export async function asAdmin<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A store that its owner opened, with rows of the local tenant and of another one in every table. */
export async function fillStore({ url, adminUrl }: Account): Promise<Known> {
  await (await openDatabase({ databaseUrl: url })).close();
  const database = new Database(await ServerDriver.open(adminUrl));
  try {
    return await database.transaction({ as: 'owner' }, async (tx) => {
      for (const tenantId of [LOCAL_TENANT, randomUUID()]) await insertSampleRows(tx, tenantId);
      const [known] = await tx.query<Record<string, string>>(
        `select tenant_id, (select id from sessions where tenant_id = $1) as session_id,
           (select id from projects where tenant_id = $1) as project_id,
           (select id from jobs where tenant_id = $1) as job_id,
           (select id from model_calls where tenant_id = $1) as call_id,
           (select lease_token from jobs where tenant_id = $1) as token
         from tenants where tenant_id = $1`,
        [LOCAL_TENANT],
      );
      return known!;
    });
  } finally {
    await database.close();
  }
}

/** A digest of all rows of a store, and of who owns and may do what in it. */
export function digestOf({ adminUrl }: Account): Promise<string> {
  return asAdmin(adminUrl, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace
         and relkind in ('r', 'p') order by 1`,
    );
    const parts: string[] = [];
    for (const { name } of tables) {
      const rows = `select md5(string_agg(t::text, ' ' order by t::text)) as digest from ${name} t`;
      parts.push(JSON.stringify((await client.query(rows)).rows));
    }
    const { rows } = await client.query(
      `select 'routine' as what, proname::text as name, proacl::text as rights, proowner::regrole::text
         as owner from pg_proc where pronamespace = 'public'::regnamespace
       union all select 'table', relname, relacl::text, relowner::regrole::text from pg_class
         where relnamespace = 'public'::regnamespace
       union all select 'member', r.rolname, m.member::regrole::text, null
         from pg_auth_members m join pg_roles r on r.oid = m.roleid
         join store_identity i on r.rolname ~ i.id
       union all select 'schema', nspname, nspacl::text, nspowner::regrole::text from pg_namespace
         where nspname !~ '^pg_(temp|toast_temp)' order by 1, 2, 3`,
    );
    return [...parts, ...rows.map((row) => JSON.stringify(row))].join('\n');
  });
}

/** All rows of a tenant, each as one text. */
export function rowsOf({ adminUrl }: Account, tables: readonly string[], tenantId: string) {
  return asAdmin(adminUrl, async (client) => {
    const rows: Record<string, unknown>[] = [];
    for (const table of tables) {
      const sql = `select * from ${table} t where tenant_id = $1 order by t::text`;
      rows.push(...(await client.query(sql, [tenantId])).rows);
    }
    return rows;
  });
}

/** The tables that hold rows of tenants. */
export async function tablesOf({ adminUrl }: Account): Promise<string[]> {
  const database = new Database(await ServerDriver.open(adminUrl));
  try {
    return await database.transaction({ as: 'owner' }, (tx) => tenantTables(tx));
  } finally {
    await database.close();
  }
}

/** A connection as a login that is closed after the test file. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  afterTheFile(() => client.end());
  return client;
}
