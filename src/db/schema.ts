import type { ColumnType, Generated, JSONColumnType } from 'kysely';

type Json = JSONColumnType<Record<string, unknown>>;
type Now = Generated<Date>;
/** Set by the database, never by a statement. */
type ReadOnly<T> = ColumnType<T, never, never>;

/** The tables as kysely sees them; a test compares this with the database's catalog. */
export type Schema = {
  tenants: { tenant_id: string; name: string; created_at: Now };
  users: {
    tenant_id: string;
    id: string;
    email: string;
    name: string;
    is_owner: Generated<boolean>;
    created_at: Now;
  };
  api_tokens: {
    tenant_id: string;
    id: string;
    user_id: string;
    name: string;
    token_hash: Uint8Array;
    created_at: Now;
    expires_at: Date | null;
    revoked_at: Date | null;
  };
  events: {
    tenant_id: string;
    tx: ReadOnly<string>;
    id: ReadOnly<number>;
    topic: string;
    kind: string;
    payload: Json;
    created_at: Now;
  };
  notices: {
    tenant_id: string;
    id: string;
    severity: 'info' | 'warning' | 'error';
    code: string;
    message: string;
    topic: string;
    details: Json;
    created_at: Now;
    dismissed_at: Date | null;
  };
};
