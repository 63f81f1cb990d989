import { expect, test } from 'vitest';
import { newTenant, openTestStore } from '../../test/stores.ts';
import type { Database } from './database.ts';
import { appendEvents, hasDelayedEvents, readEvents } from './events.ts';

const topic = 'session/1';

/** Opens a transaction that has written; the promise that it returns ends it. */
async function holdOpen(database: Database): Promise<() => Promise<void>> {
  const { tenantId } = await newTenant(database, 'slow');
  const [written, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transaction = database.asTenant(tenantId, async (tx) => {
    await appendEvents(tx, [{ topic, kind: 'thing-begun' }]);
    written.resolve();
    await ended.promise;
  });
  await written.promise;
  return () => {
    ended.resolve();
    return transaction;
  };
}

async function appendOne(database: Database) {
  const { tenantId } = await newTenant(database);
  await database.asTenant(tenantId, (tx) => appendEvents(tx, [{ topic, kind: 'thing-done' }]));
  return {
    count: async () => (await readEvents(database, { tenantId, topic, after: null })).length,
    isDelayed: () => hasDelayedEvents(database, { tenantId, topic, after: null }),
  };
}

test('a transaction of the store delays readers, and they can tell', async () => {
  const database = await openTestStore('server');
  const end = await holdOpen(database);
  const { count, isDelayed } = await appendOne(database);
  try {
    expect(await count()).toBe(0);
    expect(await isDelayed()).toBe(true);
  } finally {
    await end(); // a store with an open transaction does not close
  }
  await expect.poll(count).toBe(1);
});

test('a transaction of another database on the same server delays nobody', async () => {
  const [database, other] = [await openTestStore('server'), await openTestStore('server')];
  const end = await holdOpen(other);
  const { count, isDelayed } = await appendOne(database);
  try {
    await expect.poll(count, { timeout: 20_000 }).toBe(1);
  } finally {
    await end();
  }
  expect(await isDelayed()).toBe(true);
});
