import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { saveBlob } from '../../src/documents/blobs.ts';
import { newId } from '../../src/platform/ids.ts';

/** An embedded store with one project. */
export type Place = {
  readonly database: Database;
  readonly tenantId: string;
  readonly projectId: string;
};

/** Runs work on an empty store, which is deleted afterwards. */
export async function withStore<T>(work: (place: Place) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-bench-'));
  const database = await openDatabase(
    { dataDirectory: join(folder, 'data') },
    { backupEveryMs: 0 },
  );
  try {
    await ensureLocalTenant(database);
    const place = { database, tenantId: LOCAL_TENANT, projectId: newId() };
    await database.asTenant(LOCAL_TENANT, async (tx) => {
      const row = [tx.tenantId, place.projectId, 'Bench', await saveBlob(tx, 'A brief.')];
      await tx.query(
        'insert into projects (tenant_id, id, name, brief_hash) values ($1, $2, $3, $4)',
        row,
      );
    });
    return await work(place);
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}
