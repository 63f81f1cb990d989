import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { withRoleNames } from '../../src/db/store-roles.ts';
import { roleSuffix } from '../store-roles.ts';
import { describeOnBoth, openTestStore } from '../stores.ts';

/** Tables of the program itself, which hold nothing of a tenant. */
const NOT_A_TENANTS = ['schema_migrations', 'store_epoch', 'store_identity'];

/** What is wrong with the isolation of any table, view, key or role; empty when nothing is. */
const RULES: readonly [rule: string, sql: string][] = [
  [
    'every table has row-level security, enabled and forced',
    `select relname as offender from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and not (relrowsecurity and relforcerowsecurity) and relname <> all ($1)`,
  ],
  [
    'every table has a policy that ties the application role to its tenant',
    `select relname as offender from pg_class c
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> all ($1)
       and not exists (select from pg_policies p where p.tablename = c.relname
         and p.roles = '{dialectic_app}' and p.cmd = 'ALL'
         and p.qual = '(tenant_id = ( SELECT current_tenant() AS current_tenant))'
         and p.with_check = p.qual)`,
  ],
  [
    'no table has another policy for the application role',
    `select tablename as offender from pg_policies
     where schemaname = 'public' and tablename <> all ($1) and policyname <> 'tenant_only'
       and (roles && '{dialectic_app,public}')`,
  ],
  [
    'every table has an index that begins with its tenant',
    `select relname as offender from pg_class c
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> all ($1)
       and not exists (select from pg_index i join pg_attribute a
         on a.attrelid = c.oid and a.attnum = i.indkey[0]
         where i.indrelid = c.oid and a.attname = 'tenant_id' and i.indpred is null)`,
  ],
  [
    'every foreign key includes the tenant, so that its errors tell nothing of others',
    `select k.conrelid::regclass || '.' || conname as offender from pg_constraint k
     where contype = 'f' and connamespace = 'public'::regnamespace and $1::text[] is not null
       and not exists (select from unnest(k.conkey, k.confkey) as pair (own, other)
         join pg_attribute a on a.attrelid = k.conrelid and a.attnum = pair.own
         join pg_attribute f on f.attrelid = k.confrelid and f.attnum = pair.other
         where a.attname = 'tenant_id' and f.attname = 'tenant_id')`,
  ],
  [
    'every unique key includes the tenant, but for hashes of secrets',
    `select indexrelid::regclass::text as offender from pg_index i
     where indisunique and (select relnamespace from pg_class where oid = indrelid)
         = 'public'::regnamespace
       and indrelid::regclass::text <> all ($1)
       and indexrelid::regclass::text <> 'api_tokens_token_hash_key'
       and not exists (select from pg_attribute a where a.attrelid = i.indrelid
         and a.attnum = any (i.indkey) and a.attname = 'tenant_id')`,
  ],
  [
    'every view runs with the rights of its reader',
    `select relname as offender from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')
       and relname <> all ($1) and not coalesce('security_invoker=true' = any (reloptions), false)`,
  ],
  [
    // event_horizon reads no table: it looks at running transactions and returns an id of one.
    "no function runs with the rights of its owner but the ledger's, with a fixed search path",
    `select proname as offender from pg_proc
     where pronamespace = 'public'::regnamespace and prosecdef and proname <> all ($1)
       and not ((pg_get_userbyid(proowner) = 'dialectic_ledger' or proname = 'event_horizon')
         and 'search_path=public, pg_temp' = any (proconfig))`,
  ],
  [
    // A value in DECLARE is computed before the first statement, so that none may be.
    'every function that runs with the rights of its owner first asks who calls, for which tenant',
    `select proname as offender from pg_proc
     where pronamespace = 'public'::regnamespace and prosecdef and proname <> all ($1)
       and not (prosrc ~* '^\\s*(declare[^=]*)?(begin\\s+perform|select) require_tenant\\(of_tenant\\);'
         or proname = 'event_horizon'
           and prosrc ~ '^\\s*select require_tenant\\(current_tenant\\(\\)\\);')`,
  ],
  [
    'no function and no procedure can be called by everybody',
    `select p.oid::regprocedure::text as offender from pg_proc p
     where pronamespace = 'public'::regnamespace and proname <> all ($1)
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
       and exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner))) g
         where g.grantee = 0)`,
  ],
  [
    'no table, column, sequence or schema gives everybody a right, but for looking into the schema',
    `select relname as offender from pg_class c
     where relnamespace = 'public'::regnamespace and relname <> all ($1)
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
       and (exists (select from aclexplode(relacl) g where g.grantee = 0)
         or exists (select from pg_attribute a cross join aclexplode(a.attacl) g
           where a.attrelid = c.oid and g.grantee = 0))
     union all select nspname from pg_namespace n cross join aclexplode(nspacl) g
     where nspname = 'public' and g.grantee = 0 and g.privilege_type <> 'USAGE'`,
  ],
  [
    'no role of the program can log in, is a superuser or bypasses policies',
    `select rolname as offender from pg_roles where rolname like 'dialectic\\_%'
       and rolname <> all ($1) and (rolsuper or rolbypassrls or rolcanlogin or rolcreaterole)`,
  ],
];

describeOnBoth('the catalog', (kind) => {
  let database: Database;
  let storeId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    storeId = (await roleSuffix(database)).slice(1);
  });
  const offenders = async (sql: string, before = ''): Promise<string[]> => {
    let found: string[] = [];
    const onlyLooked = new Error('whatever `before` made was only for this look');
    const looking = database.transaction({ as: 'owner' }, async (tx) => {
      if (before) await tx.query(withRoleNames(before, storeId));
      const rows = await tx.query<{ offender: string }>(withRoleNames(sql, storeId), [
        NOT_A_TENANTS,
      ]);
      found = rows.map((row) => row.offender);
      throw onlyLooked;
    });
    await expect(looking).rejects.toBe(onlyLooked);
    return found;
  };

  test.each(RULES)('%s', async (_rule, sql) => {
    expect(await offenders(sql)).toEqual([]);
  });

  test('a new table without isolation is found by each rule that it breaks', async () => {
    const careless = `
      create table careless (id int primary key, user_id uuid);
      create table sloppy (tenant_id uuid references tenants, id int unique);
      alter table sloppy enable row level security;
      create policy everyone on sloppy using (true);
      create table sly (tenant_id uuid primary key, user_id int references careless);
      alter table sly enable row level security;
      alter table sly force row level security;
      create policy tenant_only on sly to dialectic_app
        using (tenant_id = (select current_tenant()) or user_id is null)
        with check (tenant_id = (select current_tenant()) or user_id is null);
      create role dialectic_boss bypassrls;
      create view peep as select * from users;
      create function climb() returns int language sql security definer return 1;
      create function creep(of_tenant uuid) returns int language plpgsql
        security definer set search_path = public, pg_temp as $$
      declare
        erased int := (select erased_sessions from erase_project(of_tenant, of_tenant));
      begin
        perform require_tenant(of_tenant);
        return erased;
      end $$;
      revoke execute on function creep from public;
      grant select on sly to public; grant insert (id) on sloppy to public;
      grant create on schema public to public`;
    const found = await Promise.all(RULES.map(([, sql]) => offenders(sql, careless)));
    expect(found.map((names) => names.toSorted())).toEqual([
      ['careless', 'sloppy'],
      ['careless', 'sloppy', 'sly'],
      ['sloppy'],
      ['careless', 'sloppy'],
      ['sly.sly_user_id_fkey'],
      ['careless_pkey', 'sloppy_id_key'],
      ['peep'],
      ['climb', 'creep'],
      ['climb', 'creep'],
      ['climb()'],
      ['public', 'sloppy', 'sly'],
      ['dialectic_boss'],
    ]);
  });
});
