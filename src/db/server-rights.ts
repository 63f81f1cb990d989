import pg from 'pg';
import { codeOf, DialecticError } from '../errors/errors.ts';
import type { Database } from './database.ts';
import { describeObject, findForeignObjects } from './foreign-objects.ts';
import { readStoreId, rolesOf } from './store-roles.ts';

/** What stands open on a server beside the store, and who can close it how. */
export type OpenRight = {
  readonly message: string;
  readonly next: string;
  /** Whether somebody else can read or change the store because of it. */
  readonly isHole: boolean;
};

type Rights = {
  login: string;
  database: string;
  is_superuser: boolean;
  all_connect: boolean;
  all_create: boolean;
  /** On servers on which a login with CREATEROLE can give itself any role. */
  role_makers: string[];
  /** Logins with open connections to the database, which stay open when CONNECT is revoked. */
  connected: string[];
};

type Member = { role: string; member: string };

const RIGHTS = `select current_user::text as login, d.datname as database, me.rolsuper is true as is_superuser,
    has_database_privilege('public', d.oid, 'CONNECT') as all_connect,
    has_schema_privilege('public', 'public', 'CREATE') as all_create,
    array(select r.rolname::text from pg_roles r
      where r.rolcreaterole and r.rolcanlogin and not r.rolsuper
        and current_setting('server_version_num')::int < 160000 order by 1) as role_makers,
    array(select distinct r.rolname::text
      from pg_stat_activity a join pg_roles r on r.oid = a.usesysid
      where a.datid = d.oid and not r.rolsuper and r.oid <> me.oid order by 1) as connected
  from pg_database d, pg_roles me
  where d.datname = current_database() and me.rolname = current_user`;

/**
 * Who else can take a role of the store, or the login itself, by itself or through other roles. Each
 * membership is a row, since each is ended by a statement of its own.
 */
const MEMBERS = `with recursive reached as (
    select oid from pg_roles where rolname = any ($1) or rolname = current_user
    union select m.member from pg_auth_members m join reached r on m.roleid = r.oid)
  select distinct m.roleid::regrole::text as role, m.member::regrole::text as member
  from reached join pg_auth_members m on m.roleid = reached.oid join pg_roles r on r.oid = m.member
  where not r.rolsuper and r.rolname <> all ($1) and r.rolname <> current_user
  order by 1, 2`;

/** What the login of a server's store could not close when it set the store up. */
export async function findOpenRights(database: Database): Promise<OpenRight[]> {
  if (database.driver.kind !== 'server') return [];
  const names = await listStoreRoles(database);
  // The owner of the ledger's functions is a role of the store that no transaction takes.
  const roles = [...names, ...names.map((name) => name.replace(/_app(?=_|$)/, '_ledger'))];
  const [rights, members] = await database.transaction({ as: 'owner' }, (tx) =>
    Promise.all([tx.queryOne<Rights>(RIGHTS), tx.query<Member>(MEMBERS, [roles])]),
  );
  const { login, role_makers: makers } = rights;
  const found: OpenRight[] = [];
  if (rights.is_superuser) {
    found.push({
      message: `The login ${login} is a superuser: no right binds it, in this store or any other of the server.`,
      next: 'Use a login of its own; an administrator runs what `dialectic doctor --sql` prints.',
      isHole: false,
    });
  }
  if (rights.all_connect) found.push(describeConnect(rights));
  if (rights.all_create) {
    found.push({
      message: 'Every login of the server may make tables and functions in the schema public.',
      next: 'The owner of the schema ends that: revoke create on schema public from public;',
      isHole: true,
    });
  }
  found.push(...members.map(describeMember), ...rights.connected.map(describeConnected));
  if (makers.length > 0) {
    found.push({
      message:
        'On PostgreSQL 15 a login with CREATEROLE can give itself the roles of every store: ' +
        `${makers.join(', ')}.`,
      next:
        'An administrator takes it away (alter role … nocreaterole) and prepares stores with what ' +
        '`dialectic doctor --sql` prints.',
      isHole: true,
    });
  }
  return [...found, ...(await describeOthers(database))];
}

/** What no statement of the store could mean; a store is not opened where one could. */
async function describeOthers({ driver }: Database): Promise<OpenRight[]> {
  const [first, ...more] = await findForeignObjects(driver);
  if (!first) return [];
  const rest = more.length > 0 ? ` and ${more.length} more of other logins` : '';
  return [
    {
      message: `The database also holds the ${describeObject(first)} of ${first.owner}${rest}.`,
      next: 'If they are of no application that shares the database, drop them.',
      isHole: false,
    },
  ];
}

const describeMember = ({ role, member }: Member): OpenRight => ({
  message: `${member} can take the role ${role}, and with it read and change the store.`,
  next: `Whoever granted it, or an administrator, ends that: revoke ${role} from ${member};`,
  isHole: true,
});

const describeConnected = (login: string): OpenRight => ({
  message: `The login ${login} is connected to the database, and stays so when CONNECT is revoked.`,
  next:
    'An administrator ends its connections: select pg_terminate_backend(pid) from ' +
    `pg_stat_activity where usename = ${pg.escapeLiteral(login)};`,
  isHole: false,
});

/** Who is connected can call and read nothing, but may hold locks and fill the disk with its own. */
function describeConnect({ database }: Rights): OpenRight {
  const name = pg.escapeIdentifier(database);
  return {
    message: `Every login of the server may connect to the database ${database}.`,
    next: ['postgres', 'template1'].includes(database)
      ? 'It is one that a server begins with; give the store a database of its own.'
      : `Its owner ends that: revoke connect, temporary on database ${name} from public;`,
    isHole: false,
  };
}

/** The roles of a server's store, for administrators who grant them to further logins. */
export async function listStoreRoles({ driver }: Database): Promise<string[]> {
  if (driver.kind !== 'server') return [];
  const { client, release } = await driver.acquire();
  const id = await readStoreId(client).catch(refuseOtherLogin).finally(release);
  return id === undefined ? [] : Object.values(rolesOf(id));
}

/** A further login has the store's roles perhaps, but none of the rights of the login that made it. */
function refuseOtherLogin(thrown: unknown): never {
  if (codeOf(thrown) !== '42501') throw thrown;
  throw new DialecticError(
    'database_refused',
    'This login did not make the store and may not read what the store says of itself.',
    { cause: thrown, action: 'Name the login that made the store in DATABASE_URL.' },
  );
}
