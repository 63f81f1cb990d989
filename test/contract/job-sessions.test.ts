import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { enqueueJobs } from '../../src/jobs/enqueue.ts';
import { createSession } from '../../src/jobs/sessions.ts';
import { newId } from '../../src/platform/ids.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('the session of a job', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const enqueue = (...sessions: string[]) =>
    database.asTenant(tenantId, (tx) =>
      enqueueJobs(
        tx,
        sessions.map((sessionId) => ({ sessionId, type: 'EXECUTE' as const, payload: {} })),
      ),
    );
  const newSession = () => database.asTenant(tenantId, (tx) => createSession(tx));

  test('must be there, also beside jobs that have theirs', async () => {
    const sessionId = await newSession();
    const refused = { cause: { code: '23503' } };
    await expect(enqueue(newId())).rejects.toMatchObject(refused);
    await expect(enqueue(sessionId, newId(), sessionId)).rejects.toMatchObject(refused);
    expect(await enqueue(sessionId, sessionId)).toHaveLength(2);
  });

  test('must be of the same tenant', async () => {
    const other = await newTenant(database);
    const sessionId = await database.asTenant(other.tenantId, (tx) => createSession(tx));
    await expect(enqueue(sessionId)).rejects.toMatchObject({ cause: { code: '23503' } });
  });

  test('cannot be deleted while it has jobs', async () => {
    const [busy, idle] = [await newSession(), await newSession()];
    await enqueue(busy);
    const remove = (id: string) =>
      database.transaction({ as: 'owner' }, async (tx) => {
        await tx.query('set local row_security = off');
        return tx.query('delete from sessions where id = $1 returning id', [id]);
      });
    expect(await remove(idle)).toEqual([{ id: idle }]);
    await expect(remove(busy)).rejects.toMatchObject({ cause: { code: '23503' } });
  });
});
