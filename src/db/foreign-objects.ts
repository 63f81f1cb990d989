import type { ClientBase } from 'pg';
import { DialecticError } from '../errors/errors.ts';
import type { Driver } from './driver.ts';
import { readSchemaFiles, type SchemaFiles } from './schema-files.ts';
import { IDENTITY_TABLE, readStoreId } from './store-roles.ts';

// Where PostgreSQL looks for what statements name, any login with CREATE there could have put something
// of its own: of functions with one name it calls the one whose arguments fit best, whoever made it, and
// as whom the statement runs. A table may be read through a view or a policy, which call functions, too.

/** Something that another login has made where the statements of the store look. */
export type ForeignObject = {
  /** As `drop` wants them. */
  readonly kind: string;
  readonly identity: string;
  readonly owner: string;
  /** Whether a statement of the store could mean it. */
  readonly is_ours: boolean;
  /** The statement that lets the login of the store act as its owner, of whom it is a member. */
  readonly act_as: string | null;
};

const CREATED =
  /\bcreate (?:or replace )?(?:unique )?(?:table|function|procedure|view|sequence|type|domain|index)(?: if not exists)? (\w+)/gi;
/** Names of the migrations' record, and of the types of pgvector. */
const BESIDE = ['schema_migrations', IDENTITY_TABLE.split(' ', 1)[0]!, 'vector', 'halfvec'];

/** The names of everything that the schema is made of. */
const namesOf = ({ migrations, functions }: SchemaFiles): string[] => {
  const created = [...migrations, ...functions].flatMap(({ sql }) => [...sql.matchAll(CREATED)]);
  return [...new Set([...created.map(([, name]) => name!), ...BESIDE])];
};

/**
 * What others than the login (an SQL expression) and superusers have made in `public` and in the schemas
 * (an SQL expression, too) that stand in its search path. It reads catalogs alone and means what it says
 * with a search path of pg_catalog alone: operators that somebody has planted must not take part in it.
 *
 * Operators and casts are found by the types of what they are used on, not by a name that is ours. A
 * function may also stand in for one of PostgreSQL's own: length(varchar) fits better than length(text).
 * A member of an extension counts as its owner's, who can add any function of his to it.
 */
export const foreignObjects = (login: string, schemas: string): string => `
  with trusted as (select r.oid from pg_roles r where r.rolsuper or r.rolname = ${login}),
  looked_in as (select n.oid, n.nspname, n.nspowner from pg_namespace n
    where n.nspname = 'public' or n.nspname in (${schemas})),
  found (class, object, owner, name) as (
    select 'pg_namespace'::regclass, n.oid, n.nspowner, null from looked_in n
      where n.nspname <> 'public'
    union all select 'pg_proc'::regclass, p.oid, p.proowner, p.proname from pg_proc p
      where p.pronamespace in (select oid from looked_in)
    union all select 'pg_class'::regclass, c.oid, c.relowner, c.relname from pg_class c
      where c.relnamespace in (select oid from looked_in) and c.relkind not in ('i', 'I', 't')
    union all select 'pg_type'::regclass, t.oid, t.typowner, t.typname from pg_type t
      where t.typnamespace in (select oid from looked_in) and t.typrelid = 0 and t.typcategory <> 'A'
    union all select 'pg_operator'::regclass, o.oid, o.oprowner, null from pg_operator o
      where o.oprnamespace in (select oid from looked_in)
    union all select 'pg_cast'::regclass, k.oid, coalesce(p.proowner, t.typowner), null
      from pg_cast k join pg_type t on t.oid in (k.castsource, k.casttarget)
      left join pg_proc p on p.oid = k.castfunc and p.proowner not in (select oid from trusted)
      where p.oid is not null or t.typowner not in (select oid from trusted)
        and t.typnamespace in (select oid from looked_in)
  )
  select distinct i.type as kind, replace(i.identity, 'pg_catalog.', '') as identity, pg_get_userbyid(f.owner)::text as owner,
    f.name is null or f.name = any ('{${namesOf(readSchemaFiles()).join()}}'::name[])
      or f.class = 'pg_proc'::regclass and exists (select from pg_proc p
        where p.proname = f.name and p.pronamespace in ('pg_catalog'::regnamespace,
          'public'::regnamespace) and p.proowner in (select oid from trusted)) as is_ours,
    case when pg_has_role(${login}, f.owner, 'MEMBER') then
      format('alter role %I set role = %I;', ${login}, pg_get_userbyid(f.owner)) end as act_as
  from found f cross join pg_identify_object(f.class, f.object, 0) i
  where f.owner not in (select oid from trusted)
    and not exists (select from pg_depend d join pg_extension e on e.oid = d.refobjid
      where d.classid = f.class and d.objid = f.object and d.deptype = 'e'
        and d.refclassid = 'pg_extension'::regclass and e.extowner in (select oid from trusted))
  order by is_ours desc, kind, identity`;

/** The search path as it was is kept in a setting, since the look itself has one of its own. */
const LOOK = `begin;
  select pg_catalog.set_config('dialectic.schemas',
    pg_catalog.array_to_json(pg_catalog.current_schemas(false))::pg_catalog.text, true);
  set local search_path = pg_catalog, pg_temp`;
/** Also one with the login's name: it joins the path as soon as its owner lets the login use it. */
const SCHEMAS = `select jsonb_array_elements_text(current_setting('dialectic.schemas')::jsonb)
  union all select current_user`;

/** What other logins have made where statements of a server's store look, in one round trip. */
export async function findForeignObjects(driver: Driver): Promise<ForeignObject[]> {
  if (driver.kind !== 'server') return [];
  const { client, release } = await driver.acquire();
  let isBroken = true;
  try {
    const found = await look(client);
    isBroken = false;
    return found;
  } catch (error) {
    throw driver.explain(error) ?? error;
  } finally {
    release(isBroken);
  }
}

async function look(client: ClientBase): Promise<ForeignObject[]> {
  const text = `${LOOK}; ${foreignObjects('current_user', SCHEMAS)}; rollback`;
  const results = (await client.query(text)) as unknown as { rows: ForeignObject[] }[];
  const found = results.at(-2)!.rows;
  const isOfLedger = ({ owner }: ForeignObject): boolean => owner.startsWith('dialectic_ledger');
  const others = found.filter((one) => !isOfLedger(one));
  // The table with the id is read only when it is the login's own.
  if (others.length === found.length || others.some((one) => one.is_ours)) return found;
  const id = await readStoreId(client);
  const ledger = id === undefined ? 'dialectic_ledger' : `dialectic_ledger_${id}`;
  return found.filter(({ owner }) => owner !== ledger);
}

/** Refuses to open a store whose statements could mean what another login has made. */
export async function refuseForeignObjects(driver: Driver): Promise<void> {
  const found = (await findForeignObjects(driver)).filter(({ is_ours: isOurs }) => isOurs);
  const [first] = found;
  if (!first) return;
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  throw new DialecticError(
    'database_refused',
    `The ${describeObject(first)}${more} of this database was made by another login (${plain(first.owner)}) ` +
      'than that of DATABASE_URL, which could read and change what is stored here: statements of the ' +
      'store would use it.',
    {
      action: describeWay(first),
      details: { objects: found.slice(0, 100) },
    },
  );
}

/** A login that is a member of a role makes things of its own until it acts as that role. */
function describeWay(object: ForeignObject): string {
  const { act_as: actAs, owner } = object;
  const drop =
    `Have it dropped: drop ${describeObject(object)}; or, for a new store, use a database in which ` +
    'nobody else may create anything.';
  if (actAs === null) return drop;
  return `If ${plain(owner)} made this store, act as that role: ${plain(actAs)} Otherwise: ${drop}`;
}

export const describeObject = ({ kind, identity }: ForeignObject): string =>
  plain(`${kind} ${identity}`);

/** Names may hold anything; in a message they are one line without control characters. */
const plain = (text: string): string => text.replaceAll(/[\p{C}\u2028\u2029]/gu, '?');
