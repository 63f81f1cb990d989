import { expect, onTestFinished, test } from 'vitest';
import { appendEvents, EVENTS_CHANNEL, readEvents } from '../../src/db/events.ts';
import { openDatabase } from '../../src/db/open.ts';
import { startPostgres } from '../postgres-server.ts';
import { newTenant } from '../stores.ts';

test('a server that crashes is an error worth a retry, and is found again', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const databaseUrl = await server.createDatabase('restarts');
  const database = await openDatabase({ databaseUrl });
  const { tenantId } = await newTenant(database);
  const append = () =>
    database.asTenant(tenantId, (tx) => appendEvents(tx, [{ topic: 't', kind: 'thing-done' }]));
  let hints = 0;
  await database.driver.listen(EVENTS_CHANNEL, () => hints++);
  await append();
  await expect.poll(() => hints).toBe(1);

  const cut = database.asTenant(tenantId, async (tx) => {
    await tx.query('select 1');
    await server.restart();
    await tx.query('select 1');
  });
  await expect(cut).rejects.toMatchObject({ code: 'database_unreachable', retryable: true });
  await append();
  const rows = await database.asTenant(tenantId, (tx) => tx.query('select 1 from events'));
  expect(rows.length).toBe(2);

  // The listener comes back by itself and wakes everybody once, since hints may have been lost.
  await expect.poll(() => hints).toBeGreaterThan(1);
  const before = hints;
  await append();
  await expect.poll(() => hints).toBeGreaterThan(before);
  await database.close();
});

test('an event that was read survives a crash, however carelessly it was written', async () => {
  const server = await startPostgres(['wal_writer_delay=10s', 'bgwriter_delay=10s']);
  onTestFinished(() => server.stop());
  const databaseUrl = await server.createDatabase('careless');
  const database = await openDatabase({ databaseUrl });
  const { tenantId } = await newTenant(database);
  const append = (kind: string) =>
    database.asTenant(tenantId, async (tx) => {
      await tx.query('set local synchronous_commit = off');
      await appendEvents(tx, [{ topic: 't', kind }]);
    });
  await append('thing-read');
  const [read] = await readEvents(database, { tenantId, after: null });
  await append('thing-unread');
  await server.restart();
  await append('thing-after');
  const after = await readEvents(database, { tenantId, after: null });
  // What nobody had seen may be gone: that is what writing without waiting means.
  expect(after.map(({ kind }) => kind).filter((kind) => kind !== 'thing-unread')).toEqual([
    'thing-read',
    'thing-after',
  ]);
  const next = await readEvents(database, { tenantId, after: read!.cursor });
  expect(next.map(({ kind }) => kind)).toContain('thing-after');
  await database.close();
});
