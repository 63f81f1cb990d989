import type { Database } from '../db/database.ts';
import { locateStore, openDatabase } from '../db/open.ts';
import { ensureLocalTenant } from '../db/tenants.ts';

/** An open store and whose it is on this machine. */
export type OpenStore = { readonly database: Database; readonly tenantId: string };

/** Opens the store for one command and closes it whatever happens. */
export async function withStore<T>(
  data: string | undefined,
  work: (store: OpenStore) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(locateStore(process.env, data));
  try {
    const { tenantId } = await ensureLocalTenant(database);
    return await work({ database, tenantId });
  } finally {
    await database.close();
  }
}
