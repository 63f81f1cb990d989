import { randomBytes } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { examineStore } from '../../src/db/doctor.ts';
import { openDatabase } from '../../src/db/open.ts';
import { writePreparation } from '../../src/db/prepare-database.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { findInstalledServers, startPostgres } from '../postgres-server.ts';
import { afterTheFile } from '../stores.ts';
import { type Account, asAdmin, type Making, makeAccount } from './owned-stores.ts';

const fresh = (): string => `mallory_${randomBytes(4).toString('hex')}`;

/** What runs as whoever calls it. */
const PROOF = `begin
    execute 'create table if not exists ran_as_' || current_user || ' ()';`;
const overload = (name: string): string =>
  `create function public.${name} returns void language plpgsql as $$ ${PROOF} end $$`;

/** Each with what the refusal names; all may stand in a database before the store does. */
const PLANTED: readonly (readonly [sql: string, named: string])[] = [
  [overload('check_amounts(text, bigint)'), 'function public.check_amounts(text,bigint)'],
  [overload('app_now(int)'), 'function public.app_now(integer)'],
  [overload('length(varchar)'), 'function public.length(character varying)'],
  [overload('jsonb_build_object(text, bigint)'), 'function public.jsonb_build_object(text,bigint)'],
  [
    'create procedure public.open_table(varchar, text, text) language sql as $$ select 1 $$',
    'procedure public.open_table(character varying,text,text)',
  ],
  [
    'create aggregate public.max(date) (sfunc = date_larger, stype = date)',
    'aggregate public.max(date)',
  ],
  [
    `create function public.same(oid, regclass) returns boolean language sql return true;
     create operator public.= (leftarg = oid, rightarg = regclass, function = public.same)`,
    'operator public.=(oid,regclass)',
  ],
  [
    `create type public.mood as enum ('bad');
     create function public.to_mood(text) returns public.mood language sql return 'bad'::public.mood;
     create cast (text as public.mood) with function public.to_mood(text) as implicit`,
    'cast (text AS public.mood)',
  ],
  [
    `create table public.schema_migrations (version int, name text, digest text, edition int);
     grant all on public.schema_migrations to public`,
    'table public.schema_migrations',
  ],
  [
    `create view public.store_identity as select true as only_row, '0123456789ab'::text as id;
     grant all on public.store_identity to public`,
    'view public.store_identity',
  ],
  ['create sequence public.jobs', 'sequence public.jobs'],
  [
    'create materialized view public.accounts as select 1 as id',
    'materialized view public.accounts',
  ],
  ['create type public.sessions as (id int)', 'composite type public.sessions'],
  ["create type public.vector as enum ('a')", 'type public.vector'],
  ['create domain public.halfvec as text', 'type public.halfvec'],
];

function describeServer(title: string, making: Making, findServer: () => Promise<string>): void {
  describe(title, () => {
    let server: Promise<string> | undefined;
    /** A database of a login, as those of PostgreSQL 14 are: each login may make what it likes. */
    const makeOpenDatabase = async () => {
      server ??= findServer();
      const store = await makeAccount(await server, making === 'prepared' ? 'nothing' : making);
      const mallory = fresh();
      await asAdmin(store.adminUrl, (client) => client.query(`create role ${mallory} login`));
      await reopen(store, 'public');
      return { store, plant: (sql: string) => runAs(store, mallory, sql), mallory };
    };
    const reopen = (store: Account, whom: string) =>
      asAdmin(store.adminUrl, (client) =>
        client.query(`grant connect on database ${store.login} to ${whom};
          grant create on schema public to ${whom}`),
      );
    const runAs = (store: Account, login: string, sql: string) =>
      asAdmin(Object.assign(new URL(store.url), { username: login }).href, (client) =>
        client.query(sql),
      );
    const prepare = (store: Account) =>
      making === 'prepared'
        ? asAdmin(store.adminUrl, (client) =>
            client.query(writePreparation({ databaseUrl: store.url })),
          )
        : Promise.resolve();
    const tablesNamed = (store: Account, like: string) =>
      asAdmin(store.adminUrl, async (client) => {
        const sql = `select relname as name from pg_class where relname like '${like}'`;
        return (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);
      });

    test.each(PLANTED)('a new store opens not beside %s', async (sql, named) => {
      const { store, plant, mallory } = await makeOpenDatabase();
      await plant(sql);
      if (making === 'prepared') {
        const told = named.startsWith('view') ? 'public.store_identity' : named;
        await expect(prepare(store)).rejects.toThrow(told);
      }
      const opening = openDatabase({ databaseUrl: store.url });
      await expect(opening).rejects.toMatchObject({
        code: 'database_refused',
        message: expect.stringContaining(`made by another login (${mallory})`) as string,
        details: {
          objects: expect.arrayContaining([
            expect.objectContaining({
              kind: named.replace(/ (?:\(|public).*/, ''),
              identity: named.replace(/^[a-z ]+ (?=\(|public)/, ''),
            }),
          ]) as unknown,
        },
      });
      expect(await tablesNamed(store, 'ran_as_%')).toEqual([]);
    });

    test('a store that is there opens not beside an overload, doctor names it, and it never runs', async () => {
      const { store, plant } = await makeOpenDatabase();
      await prepare(store);
      const opened = await openDatabase({ databaseUrl: store.url });
      await ensureLocalTenant(opened);
      await opened.close();
      await reopen(store, 'public');
      await plant(overload('check_amounts(text, bigint)'));
      await asAdmin(store.adminUrl, (client) =>
        client.query('revoke create on schema public from public'),
      );
      for (const migrate of [true, false]) {
        const opening = openDatabase({ databaseUrl: store.url }, { migrate });
        await expect(opening).rejects.toMatchObject({
          code: 'database_refused',
          message: expect.stringContaining('check_amounts(text,bigint)') as string,
          action: expect.stringContaining(
            'drop function public.check_amounts(text,bigint)',
          ) as string,
        });
      }
      const findings = await examineStore({ databaseUrl: store.url });
      expect(findings.find(({ ok }) => !ok)?.message).toContain('check_amounts(text,bigint)');
      expect(await tablesNamed(store, 'ran_as_%')).toEqual([]);
    });

    test('an overload that is planted while a store is open is not called by the ledger', async () => {
      const { store, plant } = await makeOpenDatabase();
      await prepare(store);
      const opened = await openDatabase({ databaseUrl: store.url });
      onTestFinished(() => opened.close());
      await ensureLocalTenant(opened);
      await reopen(store, 'public');
      for (const amounts of ['bigint', 'bigint, bigint', 'bigint, bigint, bigint, bigint']) {
        await plant(overload(`check_amounts(text, ${amounts})`));
        await plant(`grant execute on function check_amounts(text, ${amounts}) to public`);
      }
      await opened.asTenant(LOCAL_TENANT, (tx) =>
        tx.query("select grant_funds($1, 'key', null, 'USD', 5::bigint, '{}')", [LOCAL_TENANT]),
      );
      expect(await tablesNamed(store, 'ran_as_%')).toEqual([]);
    });

    test('what another application has in the same database is told, and left alone', async () => {
      const { store, plant, mallory } = await makeOpenDatabase();
      await plant(`create table public.invoices (id int primary key, name text);
        create function public.total_of(int) returns int language sql return 1;
        create type public.colour as enum ('red')`);
      await prepare(store);
      const told: string[] = [];
      const opened = await openDatabase(
        { databaseUrl: store.url },
        { log: (line) => told.push(line) },
      );
      await opened.close();
      expect(told.join()).toContain(
        `The database also holds the function public.total_of(integer) of ${mallory} and 2 more`,
      );
      const findings = await examineStore({ databaseUrl: store.url });
      expect(findings.filter(({ ok }) => !ok)).toEqual([]);
      expect(findings.map(({ message }) => message).join()).toContain('total_of(integer)');
      await reopen(store, mallory);
      await runAs(store, mallory, 'select public.total_of(1) from public.invoices');
    });

    test('other functions of the same login stay open to whom it opened them', async () => {
      const { store, mallory } = await makeOpenDatabase();
      await prepare(store);
      await runAs(store, store.login, 'create function total_of(int) returns int return 1');
      await (await openDatabase({ databaseUrl: store.url })).close();
      await runAs(
        store,
        store.login,
        `create function mean_of(int) returns int return 1; create schema shop;
         create function shop.tax_of(int) returns int return 1;
         grant usage on schema shop to public`,
      );
      await reopen(store, mallory);
      await runAs(store, mallory, 'select total_of(1), mean_of(1), shop.tax_of(1)');
    });

    test('a schema with the name of the login that another login made is refused', async () => {
      const { store } = await makeOpenDatabase();
      await prepare(store);
      await asAdmin(store.adminUrl, (client) =>
        client.query(`create role ${store.login}_boss;
          create schema ${store.login} authorization ${store.login}_boss`),
      );
      const opening = openDatabase({ databaseUrl: store.url });
      await expect(opening).rejects.toThrow(`schema ${store.login}`);
    });

    test('a member of the role that made a store is told how to act as it, and then opens it', async () => {
      const { store, mallory: member } = await makeOpenDatabase();
      await prepare(store);
      await (await openDatabase({ databaseUrl: store.url })).close();
      await asAdmin(store.adminUrl, (client) =>
        client.query(
          `grant ${store.login} to ${member}; grant connect on database ${store.login} to ${member}`,
        ),
      );
      const databaseUrl = Object.assign(new URL(store.url), { username: member }).href;
      const action = `alter role ${member} set role = ${store.login};`;
      await expect(openDatabase({ databaseUrl })).rejects.toMatchObject({
        code: 'database_refused',
        action: expect.stringContaining(action) as string,
      });
      await asAdmin(store.adminUrl, (client) => client.query(action));
      const opened = await openDatabase({ databaseUrl });
      await ensureLocalTenant(opened);
      await opened.close();
    });
  });
}

const shared = async (): Promise<string> => inject('postgresUrl');
describeServer('a database in which every login could make something', 'createrole', shared);
describeServer('the same that an administrator prepares', 'prepared', shared);
for (const { version, programs } of findInstalledServers()) {
  describeServer(`the same on PostgreSQL ${version}`, 'prepared', async () => {
    const server = await startPostgres(['fsync=off'], programs);
    afterTheFile(() => server.stop());
    return server.url;
  });
}
