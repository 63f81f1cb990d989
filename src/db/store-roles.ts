import type { ClientBase } from 'pg';
import { codeOf, DialecticError } from '../errors/errors.ts';

/**
 * The roles that transactions take. Roles belong to the whole server, so their names carry the id of
 * their store: the owner of another store on the same server cannot take them.
 */
export type StoreRoles = Readonly<Record<'app' | 'worker' | 'auth', string>>;

/** The migration since which the names carry the store's id. */
export const NAMED_SINCE = 41;

const PLAIN_NAMES = /\bdialectic_(?:app|worker|auth|ledger)\b/g;

/** SQL of a schema file, which says `dialectic_app`, with the names that the roles of a store have. */
export const withRoleNames = (sql: string, storeId: string): string =>
  sql.replaceAll(PLAIN_NAMES, (name) => `${name}_${storeId}`);

/** The roles of a store by its id; those of a store from before migration 41 have plain names. */
export const rolesOf = (storeId?: string): StoreRoles => {
  const suffix = storeId === undefined ? '' : `_${storeId}`;
  return {
    app: `dialectic_app${suffix}`,
    worker: `dialectic_worker${suffix}`,
    auth: `dialectic_auth${suffix}`,
  };
};

/** The table with the store's id; `dialectic doctor --sql` makes the same one. */
export const IDENTITY_TABLE = `store_identity (
  only_row boolean primary key default true check (only_row),
  id text not null default left(replace(gen_random_uuid()::text, '-', ''), 12)
    check (id ~ '^[0-9a-f]{12}$')
)`;

/** An id as it may stand in the text of a statement: what made the table decides what is in it. */
export function requireStoreId(id: string): string {
  if (/^[0-9a-f]{12}$/.test(id)) return id;
  throw new DialecticError(
    'database_refused',
    'The table store_identity of this database holds no id of a store (12 hexadecimal digits).',
    { action: 'Name an empty database in DATABASE_URL, or restore the table from a dump.' },
  );
}

const UNDEFINED_TABLE = '42P01';

/** The store's id; undefined where migration 41 was not applied. Not inside of a transaction. */
export async function readStoreId(client: ClientBase): Promise<string | undefined> {
  try {
    const { rows } = await client.query<{ id: string }>(
      `select i.id from store_identity i join schema_migrations m on m.version = ${NAMED_SINCE}`,
    );
    return rows[0] && requireStoreId(rows[0].id);
  } catch (error) {
    if (codeOf(error) === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}
