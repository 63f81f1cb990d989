import { beforeAll, expect, test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../../test/stores.ts';
import type { Database } from './database.ts';
import { appendEvents, EVENTS_CHANNEL, readEvents, type StoredEvent } from './events.ts';

/** Other transactions of the store hold readers back, so an empty page is not the end. */
async function readAll(database: Database, tenantId: string, count: number) {
  const all: StoredEvent[] = [];
  const readOn = async (): Promise<number> => {
    const after = all.at(-1)?.cursor ?? null;
    all.push(...(await readEvents(database, { tenantId, after, limit: 3 })));
    return all.length;
  };
  await expect.poll(readOn).toBeGreaterThanOrEqual(count);
  await readOn();
  return all;
}

describeOnBoth('events', (kind) => {
  let database: Database;
  let tenantId: string;
  const append = (numbers: number[], topic = 'session/1', tenant = tenantId) =>
    database.asTenant(tenant, (tx) =>
      appendEvents(
        tx,
        numbers.map((n) => ({ topic, kind: 'thing-counted', payload: { n } })),
      ),
    );
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  test('are read in order, page by page, by topic, and by their own tenant only', async () => {
    await append([1, 2]);
    await append([3], 'session/2');
    await append([4, 5]);
    const stranger = await newTenant(database, 'stranger');
    await append([99], 'session/1', stranger.tenantId);
    const all = await readAll(database, tenantId, 5);
    expect(all.map((event) => event.payload['n'])).toEqual([1, 2, 3, 4, 5]);
    const one = await readEvents(database, { tenantId, topic: 'session/1', after: all[0]!.cursor });
    expect(one.map((event) => event.payload['n'])).toEqual([2, 4, 5]);
    const theirs = await readAll(database, stranger.tenantId, 1);
    expect(theirs.map((event) => event.payload['n'])).toEqual([99]);
  });

  test('behind a cursor inside a row of several are all read, also those of another topic', async () => {
    const { tenantId } = await newTenant(database, 'folded');
    const fold = (topic: string, ...numbers: number[]) =>
      database.asTenant(tenantId, (tx) =>
        appendEvents(tx, [
          {
            topic,
            kind: 'things-counted',
            payload: { each: numbers.map((n) => ({ n })) },
          },
        ]),
      );
    await fold('a', 1, 2, 3);
    await fold('b', 4, 5, 6);
    await fold('a', 7, 8);
    const all = await readAll(database, tenantId, 8);
    const after = all[1]!.cursor;
    const read = async (limit: number, topic?: string) => {
      const events = await readEvents(database, {
        tenantId,
        after,
        limit,
        ...(topic && { topic }),
      });
      return events.map((event) => event.payload['n']);
    };
    expect(await read(9)).toEqual([3, 4, 5, 6, 7, 8]);
    expect(await read(2)).toEqual([3, 4]);
    expect(await read(9, 'a')).toEqual([3, 7, 8]);
    expect(await read(9, 'b')).toEqual([4, 5, 6]);
  });

  test('vanish with the transaction that did not commit', async () => {
    const { tenantId } = await newTenant(database, 'undecided');
    const failing = database.asTenant(tenantId, async (tx) => {
      await appendEvents(tx, [{ topic: 't', kind: 'thing-tried' }]);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await database.asTenant(tenantId, (tx) =>
      appendEvents(tx, [{ topic: 't', kind: 'thing-done' }]),
    );
    const kinds = (await readAll(database, tenantId, 1)).map((event) => event.kind);
    expect(kinds).toEqual(['thing-done']);
  });

  test('cannot be changed or deleted, not even by the owner of the table', async () => {
    await append([6]);
    for (const sql of ["update events set kind = 'x'", 'delete from events', 'truncate events']) {
      const change = database.transaction({ as: 'owner' }, (tx) => tx.query(sql));
      await expect(change, sql).rejects.toMatchObject({ code: 'access_denied' });
    }
  });

  test('send a hint to whoever listens', async () => {
    const heard: string[] = [];
    const stop = await database.driver.listen(EVENTS_CHANNEL, (payload) => heard.push(payload));
    await append([7]);
    await expect.poll(() => heard).toContain('');
    await stop();
  });

  test('refuse a cursor that is none or of another store', async () => {
    for (const after of ['1; drop table events', '1-1', '00000000-1-1']) {
      const read = readEvents(database, { tenantId, after });
      await expect(read, after).rejects.toMatchObject({ code: 'cursor_invalid' });
    }
  });
});
