import { createHash, randomBytes } from 'node:crypto';
import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Database } from './database.ts';
import type { AnyTransaction } from './transaction.ts';

/** The tenant of a store that one person uses on one machine. */
export const LOCAL_TENANT = '00000000-0000-7000-8000-000000000001';
const LOCAL_USER = '00000000-0000-7000-8000-000000000002';

const TOKEN_PREFIX = 'dlc_';
const TOKEN = /^dlc_[A-Za-z0-9_-]{43}$/;

/** Who sends a request, as its token says. */
export type Identity = { readonly tenantId: string; readonly userId: string };

type NewUser = { readonly email: string; readonly name: string };

/** Creates a tenant with its first user, who owns it. */
export async function createTenant(
  database: Database,
  name: string,
  owner: NewUser,
): Promise<Identity> {
  const identity = { tenantId: newId(), userId: newId() };
  await database.transaction({ as: 'auth' }, (tx) => insertTenant(tx, identity, name, owner));
  return identity;
}

/** Makes sure that the single-user tenant exists. */
export async function ensureLocalTenant(database: Database): Promise<Identity> {
  const identity = { tenantId: LOCAL_TENANT, userId: LOCAL_USER };
  await database.transaction({ as: 'auth' }, async (tx) => {
    const found = await tx.query('select 1 from tenants where tenant_id = $1', [LOCAL_TENANT]);
    if (found.length === 0)
      await insertTenant(tx, identity, 'local', { email: 'local', name: 'Local user' });
  });
  return identity;
}

async function insertTenant(tx: AnyTransaction, identity: Identity, name: string, owner: NewUser) {
  const { tenantId, userId } = identity;
  // Two processes may meet on an empty store; the second finds what the first made.
  await tx.query('insert into tenants (tenant_id, name) values ($1, $2) on conflict do nothing', [
    tenantId,
    name,
  ]);
  await tx.query(
    `insert into users (tenant_id, id, email, name, is_owner)
     values ($1, $2, $3, $4, true) on conflict do nothing`,
    [tenantId, userId, owner.email, owner.name],
  );
}

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

type NewToken = {
  readonly name: string;
  /** null = valid until revoked */
  readonly expiresAt: Date | null;
};

/** Issues a token for a user of the identity's tenant; its text is shown once and never stored. */
export async function issueToken(
  database: Database,
  { tenantId, userId }: Identity,
  { name, expiresAt }: NewToken,
): Promise<{ readonly id: string; readonly token: string }> {
  const id = newId();
  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url');
  await database.asTenant(tenantId, (tx) =>
    tx.query(
      `insert into api_tokens (tenant_id, id, user_id, name, token_hash, expires_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [tenantId, id, userId, name, hashToken(token), expiresAt],
    ),
  );
  return { id, token };
}

/** Ends a token at once. */
export async function revokeToken(database: Database, tenantId: string, id: string) {
  const rows = await database.asTenant(tenantId, (tx) =>
    tx.query(
      `update api_tokens set revoked_at = app_now()
       where id = $1 and revoked_at is null returning id`,
      [id],
    ),
  );
  if (rows.length === 0) throw new DialecticError('not_found', 'No such living token.');
}

/** Finds whose token this is, by the database's clock; throws for a token that is no longer one. */
export async function authenticate(database: Database, token: string): Promise<Identity> {
  if (!TOKEN.test(token)) throw new DialecticError('token_invalid', 'This is not an API token.');
  const [row] = await database.transaction({ as: 'auth' }, (tx) =>
    tx.query<{ tenant_id: string; user_id: string; ended: boolean }>(
      `select tenant_id, user_id,
         revoked_at is not null or coalesce(expires_at <= app_now(), false) as ended
       from api_tokens where token_hash = $1`,
      [hashToken(token)],
    ),
  );
  if (!row) throw new DialecticError('token_invalid', 'This token is unknown.');
  if (row.ended) throw new DialecticError('token_expired', 'This token has ended.');
  return { tenantId: row.tenant_id, userId: row.user_id };
}
