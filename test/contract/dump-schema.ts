import type { Database } from '../../src/db/database.ts';
import { roleSuffix } from '../store-roles.ts';

/** One line for each thing that the migrations make; what belongs to an extension is left out. */
const QUERIES: readonly [title: string, sql: string][] = [
  [
    'tables and columns',
    `select format('%s.%s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
       case when a.attnotnull then ' not null' else '' end,
       coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
         || case a.attidentity when 'a' then ' identity' else '' end)
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
       and a.attnum > 0 and not a.attisdropped
     order by c.relname, a.attnum`,
  ],
  [
    'constraints',
    `select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
     from pg_constraint where connamespace = 'public'::regnamespace and conrelid <> 0
       and contype <> 'n' order by 1`,
  ],
  ['indexes', `select indexdef from pg_indexes where schemaname = 'public' order by indexname`],
  [
    'row-level security',
    `select format('%s enabled=%s forced=%s', relname, relrowsecurity, relforcerowsecurity)
     from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
     order by 1`,
  ],
  [
    'policies',
    `select format('%s %s %s to %s using (%s) check (%s)', tablename, policyname, cmd, roles,
       qual, with_check)
     from pg_policies where schemaname = 'public' order by tablename, policyname`,
  ],
  [
    'grants',
    `select format('%s %s %s', table_name, grantee,
       string_agg(privilege_type, ', ' order by privilege_type))
     from information_schema.role_table_grants
     where table_schema = 'public' and grantee like 'dialectic%'
     group by table_name, grantee order by table_name, grantee`,
  ],
  [
    'grants of single columns',
    `select format('%s.%s %s', c.relname, a.attname, a.attacl) from pg_attribute a
     join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and a.attacl is not null
     order by c.relname, a.attnum`,
  ],
  [
    'triggers',
    `select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where not tgisinternal and c.relnamespace = 'public'::regnamespace
     order by c.relname, t.tgname`,
  ],
  [
    'who may call functions, beside their owner',
    `select format('%s %s', p.oid::regprocedure, string_agg(
       case g.grantee when 0 then 'public' else g.grantee::regrole::text end, ', '
       order by g.grantee::regrole::text))
     from pg_proc p left join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
       on g.grantee <> p.proowner
     where p.pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
     group by p.oid order by p.oid::regprocedure::text`,
  ],
  [
    'functions',
    `select pg_get_functiondef(p.oid) from pg_proc p
     where pronamespace = 'public'::regnamespace and prokind in ('f', 'p')
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
     order by proname`,
  ],
];

/** The schema as text, the same on both databases and with the names that roles have in the files. */
export async function dumpSchema(database: Database): Promise<string> {
  const suffix = await roleSuffix(database);
  const dump = await database.transaction({ as: 'owner' }, async (tx) => {
    const parts: string[] = [];
    for (const [title, sql] of QUERIES) {
      const rows = await tx.query<Record<string, string>>(sql);
      parts.push(`-- ${title}`, ...rows.map((row) => Object.values(row)[0]!.trimEnd()), '');
    }
    return parts.join('\n');
  });
  return suffix === '' ? dump : dump.replaceAll(suffix, '');
}
