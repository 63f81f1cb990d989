import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { writePreparation } from '../../src/db/prepare-database.ts';
import { readSchemaFiles } from '../../src/db/schema-files.ts';
import { findOpenRights } from '../../src/db/server-rights.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { createDatabase, findInstalledServers, startPostgres } from '../postgres-server.ts';
import { insertSampleRows, tenantTables } from '../security/sample-rows.ts';
import { roleSuffix, storeRoles } from '../store-roles.ts';
import {
  afterTheFile,
  describeOnBoth,
  openStore,
  openTestStore,
  temporaryFolder,
} from '../stores.ts';
import { dumpSchema } from './dump-schema.ts';
import { applyAsEarlier } from './earlier-schema.ts';

const files = readSchemaFiles();
const run = promisify(execFile);

const asOwner = <Row extends pg.QueryResultRow>(database: Database, sql: string) =>
  database.transaction({ as: 'owner' }, (tx) => tx.query<Row>(sql));

/** The columns that hold rows of tenants, by their tables. */
const columnsOf = (database: Database) =>
  database.transaction({ as: 'owner' }, async (tx) =>
    tx.query<{ table: string; columns: string }>(
      `select attrelid::regclass::text as table, string_agg(quote_ident(attname), ', '
         order by attnum) as columns from pg_attribute
       where attrelid = any ($1::regclass[]) and attnum > 0 and not attisdropped
       group by 1 order by 1`,
      [await tenantTables(tx)],
    ),
  );

/** All rows but those that say which schema the store has; later migrations may add columns. */
const rowsOf = (database: Database, tables: Awaited<ReturnType<typeof columnsOf>>) =>
  database.transaction({ as: 'owner' }, async (tx) => {
    const rows: unknown[] = [];
    for (const { table, columns } of tables) {
      rows.push(
        table,
        ...(await tx.query(`select row(${columns})::text as row from ${table} order by 1`)),
      );
    }
    return rows;
  });

describeOnBoth('a store whose roles have the names that all stores of a server shared', (kind) => {
  const openEarlier = async (): Promise<Database> => {
    const name = `t_${randomBytes(6).toString('hex')}`;
    const location =
      kind === 'server'
        ? { databaseUrl: await createDatabase(inject('postgresUrl'), name) }
        : { dataDirectory: join(await temporaryFolder(), 'data') };
    const database = await openStore(location, { migrate: false });
    await database.transaction({ as: 'owner' }, async (tx) => {
      await applyAsEarlier(
        tx,
        files.migrations.filter(({ version }) => version <= 40),
      );
      await tx.query('set local check_function_bodies = off');
      for (const { name, sql } of files.functions) {
        if (name !== 'who-may-call.sql') await tx.query(sql);
      }
      for (const tenantId of [LOCAL_TENANT, randomUUID()]) await insertSampleRows(tx, tenantId);
    });
    return database;
  };

  test('gets names of its own, with every row and the schema of today', async () => {
    const old = await openEarlier();
    const columns = await columnsOf(old);
    const before = await rowsOf(old, columns);
    expect(before.length).toBeGreaterThan(70);
    expect(await roleSuffix(old)).toBe('');
    expect(await old.asTenant(LOCAL_TENANT, (tx) => tx.query('select 1 from users'))).toHaveLength(
      1,
    );

    expect(await migrate(old)).toContain('0041_role_names.sql');
    expect(await rowsOf(old, columns)).toEqual(before);
    expect(await roleSuffix(old)).toMatch(/^_[0-9a-f]{12}$/);
    expect(await old.asTenant(LOCAL_TENANT, (tx) => tx.query('select 1 from users'))).toHaveLength(
      1,
    );
    expect(await dumpSchema(old)).toBe(await dumpSchema(await openTestStore(kind)));
    for (const shared of ['app', 'worker', 'auth', 'ledger']) {
      const role = `dialectic_${shared}`;
      const left = await asOwner(
        old,
        `select d.classid::regclass, d.objid from pg_shdepend d
         where d.refclassid = 'pg_authid'::regclass and d.refobjid = '${role}'::regrole
           and d.dbid = (select oid from pg_database where datname = current_database())`,
      );
      expect(left, role).toEqual([]);
    }
  });
});

test('two stores of one login have different roles, read once for each', async () => {
  const url = () => createDatabase(inject('postgresUrl'), `t_${randomBytes(6).toString('hex')}`);
  const stores = [await url(), await url()].map((databaseUrl) => openStore({ databaseUrl }));
  const [one, other] = await Promise.all(stores);
  expect((await storeRoles(one!)).app).not.toBe((await storeRoles(other!)).app);
  await ensureLocalTenant(one!);
  const { driver } = one!;
  const acquire = driver.acquire.bind(driver);
  const sent: string[] = [];
  driver.acquire = async (purpose) => {
    const { client, release } = await acquire(purpose);
    const query = client.query.bind(client) as (text: unknown) => unknown;
    client.query = ((text: unknown) => {
      sent.push(String(text));
      return query(text);
    }) as typeof client.query;
    return {
      client,
      release: (broken) => {
        client.query = query as typeof client.query;
        release(broken);
      },
    };
  };
  await one!.immediate({ as: 'worker' }, 'select 1');
  expect(sent).toHaveLength(1);
});

/** What one server has in these tests: `psql` where it is installed with it. */
type Server = { readonly url: string; readonly version: number; readonly psql?: string };

function describePreparation(title: string, find: () => Promise<Server>): void {
  describe(title, () => {
    let server: Server;
    const asAdmin = async (database: string, work: (client: pg.Client) => Promise<unknown>) => {
      const { hostname, port } = new URL(server.url);
      const client = new pg.Client({
        host: hostname,
        port: Number(port),
        user: 'postgres',
        database,
      });
      client.on('notice', () => {});
      await client.connect();
      try {
        await work(client);
      } finally {
        await client.end();
      }
    };
    const query = (database: string, sql: string): Promise<void> =>
      asAdmin(database, (client) => client.query(sql));
    /** As `psql -d` reads it from a pipe. */
    const pipe = async (database: string, sql: string): Promise<void> => {
      const { hostname, port } = new URL(server.url);
      const words = ['-h', hostname, '-p', port, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'];
      const running = run(server.psql!, [...words, '-d', `dbname='${escape(database)}'`]);
      running.child.stdin!.end(sql);
      await running;
    };
    const escape = (text: string): string => text.replace(/[\\']/g, '\\$&');
    const makeAccount = async (name: string, rights = ''): Promise<string> => {
      const quoted = pg.escapeIdentifier(name);
      await query('postgres', `create role ${quoted} login ${rights}`);
      await query('postgres', `create database ${quoted}`);
      const url = new URL(server.url);
      url.username = encodeURIComponent(name);
      url.pathname = `/${encodeURI(name)}`; // which node-postgres decodes so
      return url.href;
    };
    const fresh = (): string => `p_${randomBytes(6).toString('hex')}`;

    beforeAll(async () => {
      server = await find();
    });

    test.each([
      ['simple', ''],
      [`o'w"n\\er $$ ; drop role postgres; --`, ''],
      ["${IFS}:name :'name' \\q", ''],
      ['Schöner Name', 'createrole'],
    ])('lets the login "%s" open a store without CREATEROLE', async (name, rights) => {
      const databaseUrl = await makeAccount(`${fresh()} ${name}`, rights);
      const { user, database } = new pg.Client({ connectionString: databaseUrl });
      const sql = writePreparation({ databaseUrl });
      const prepare = server.psql ? pipe : query;
      await prepare(database!, sql);
      await prepare(database!, sql); // a second time changes nothing
      await query('postgres', `alter role ${pg.escapeIdentifier(user!)} nocreaterole`);
      const store = await openDatabase({ databaseUrl });
      onTestFinished(() => store.close());
      await ensureLocalTenant(store);
      const seen = await store.asTenant(LOCAL_TENANT, (tx) => tx.query('select 1 from users'));
      expect(seen).toHaveLength(1);
      const open = await findOpenRights(store);
      expect(open.filter(({ message }) => !message.includes('CREATEROLE'))).toEqual([]);
    });

    test('names login and database of an address whose certificate is elsewhere', async () => {
      const name = fresh();
      const given = Object.assign(new URL(await makeAccount(name)), {
        search: 'sslrootcert=/nope',
      });
      const sql = writePreparation({ databaseUrl: given.href });
      const socket = `postgres://${name}@/${name}?host=/run/nowhere&sslcert=/nope&sslkey=/nope`;
      expect(writePreparation({ databaseUrl: socket })).toBe(sql);
      expect(sql).toContain(`set local dialectic.login = '${name}'`);
      await query(name, sql);
    });

    test('takes CREATEROLE from a login where it would open every store', async () => {
      const name = fresh();
      const databaseUrl = await makeAccount(name, 'createrole');
      await query(name, writePreparation({ databaseUrl }));
      await asAdmin(name, async (client) => {
        const { rows } = await client.query(
          `select rolcreaterole as keeps from pg_roles where rolname = '${name}'`,
        );
        expect(rows).toEqual([{ keeps: server.version >= 16 }]);
      });
    });

    test('comes with the names of logins that could take the roles of every store', async () => {
      const [name, maker] = [fresh(), fresh()];
      const databaseUrl = await makeAccount(name);
      await query(name, writePreparation({ databaseUrl }));
      await query('postgres', `create role ${maker} login createrole`);
      const store = await openDatabase({ databaseUrl });
      onTestFinished(() => store.close());
      const named = (await findOpenRights(store)).filter(({ message }) => message.includes(maker));
      expect(named.map(({ isHole }) => isHole)).toEqual(server.version < 16 ? [true] : []);
    });

    test('makes nothing in another database than the one that it is for', async () => {
      const databaseUrl = await makeAccount(fresh());
      const [elsewhere] = [fresh()];
      await query('postgres', `create database ${elsewhere}`);
      const prepared = query(elsewhere, writePreparation({ databaseUrl }));
      await expect(prepared).rejects.toThrow('This prepares the database');
      await query(elsewhere, 'create table public.store_identity ()'); // there was none
    });

    test('gives nobody the roles of another store, whatever id a login has written', async () => {
      const [name, thief] = [fresh(), fresh()];
      await query(name, writePreparation({ databaseUrl: await makeAccount(name) }));
      const databaseUrl = await makeAccount(thief);
      let id = '';
      await asAdmin(name, async (client) => {
        id = (await client.query<{ id: string }>('select id from store_identity')).rows[0]!.id;
      });
      await query(thief, `create table store_identity as select '${id}' as id`);
      await query(thief, `alter table store_identity owner to ${thief}`);
      await query(thief, writePreparation({ databaseUrl }));
      await asAdmin(thief, async (client) => {
        const taken = `select pg_has_role('${thief}', 'dialectic_app_${id}', 'MEMBER') as taken`;
        expect((await client.query(taken)).rows).toEqual([{ taken: false }]);
      });
      await expect(openDatabase({ databaseUrl })).rejects.toMatchObject({
        code: 'database_refused',
      });
    });

    const EVIL = `create function public.evil2() returns void volatile language plpgsql as
        $f$ begin execute 'alter role OWNER superuser'; end $f$;
      create function public.evil(text) returns text immutable language plpgsql as $f$ begin
        if current_user <> 'OWNER' then perform public.evil2(); end if; return 'x'; end $f$;`;
    const REAL = `create table public.store_identity (only_row boolean primary key default true,
        id text not null); insert into store_identity (id) values ('0123456789ab');`;

    test.each([
      `create type idt as enum ('x');
       create function public.evil(idt) returns text language plpgsql as $f$ begin
         execute 'alter role OWNER superuser'; return '0123456789ab'; end $f$;
       create cast (idt as text) with function evil(idt) as assignment;
       create table public.store_identity (only_row boolean primary key default true, id idt);
       insert into store_identity values (true, 'x');`,
      `${EVIL} ${REAL} create index on store_identity ((public.evil('a')));`,
      `${EVIL} ${REAL} create statistics st (mcv) on id, (public.evil('a')) from store_identity;`,
      `${EVIL} create view store_identity as select public.evil('a') as id;`,
      `${EVIL} create operator public.|| (leftarg = text, rightarg = text, function = public.cat);`,
      "create table store_identity as select 'x; drop role postgres'::text as id",
    ])('runs nothing that the owner of the database has put there: %s', async (planted) => {
      const name = fresh();
      const databaseUrl = await makeAccount(name);
      const cat = `create function public.cat(text, text) returns text language plpgsql as $f$ begin
        perform public.evil('a'); return 'x'; end $f$;`;
      const trap = planted.replace('create operator', `${cat} create operator`);
      await query(name, `alter database ${name} owner to ${name}`);
      await query(name, `set role ${name}; ${trap.replaceAll('OWNER', name)}`);
      await query(name, writePreparation({ databaseUrl }));
      await asAdmin(name, async (client) => {
        const { rows } = await client.query(
          `select rolsuper from pg_roles where rolname = '${name}'`,
        );
        expect(rows).toEqual([{ rolsuper: false }]);
      });
    });
  });
}

describePreparation('the SQL of doctor', async () => ({ url: inject('postgresUrl'), version: 18 }));
for (const { version, programs } of findInstalledServers()) {
  describePreparation(`the SQL of doctor, with psql of PostgreSQL ${version}`, async () => {
    const server = await startPostgres(['fsync=off'], programs);
    afterTheFile(() => server.stop());
    return { url: server.url, version, psql: join(programs, 'psql') };
  });
}

describe('what a server leaves open', () => {
  const messages = async (database: Database): Promise<string[]> =>
    (await findOpenRights(database)).map(({ message }) => message);

  test('is told when a store is made, and not again', async () => {
    const name = `t_${randomBytes(6).toString('hex')}`;
    const databaseUrl = await createDatabase(inject('postgresUrl'), name);
    const told: string[] = [];
    for (const expected of [1, 1]) {
      await (await openDatabase({ databaseUrl }, { log: (line) => told.push(line) })).close();
      expect(told).toHaveLength(expected);
    }
    expect(told[0]).toContain('postgres is a superuser');
    expect(told[0]).toContain('dialectic doctor --sql');
  });

  test('is named with who can end it', async () => {
    const name = `t_${randomBytes(6).toString('hex')}`;
    const admin = await createDatabase(inject('postgresUrl'), name);
    const client = new pg.Client({ connectionString: admin });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`create role ${name} login createrole;
      grant create on schema public to ${name}, public`);
    const store = await openStore({
      databaseUrl: Object.assign(new URL(admin), { username: name }).href,
    });
    expect(await findOpenRights(store)).toEqual([
      {
        message: `Every login of the server may connect to the database ${name}.`,
        next: `Its owner ends that: revoke connect, temporary on database "${name}" from public;`,
        isHole: false,
      },
      {
        message: 'Every login of the server may make tables and functions in the schema public.',
        next: 'The owner of the schema ends that: revoke create on schema public from public;',
        isHole: true,
      },
    ]);
    await client.query(`revoke connect, temporary on database "${name}" from public;
      grant connect on database ${name} to ${name}; revoke create on schema public from public`);
    expect(await messages(store)).toEqual([]);
    expect(await messages(await openTestStore('embedded'))).toEqual([]);
  });
});
