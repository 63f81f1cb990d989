import { beforeAll, expect, test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../../test/stores.ts';
import { watchTexts } from '../../test/watch-texts.ts';
import type { Database } from './database.ts';
import { appendEvents, readEvents } from './events.ts';
import type { Identity } from './tenants.ts';
import type { Transaction } from './transaction.ts';

describeOnBoth('a transaction', (kind) => {
  let database: Database;
  let ada: Identity;
  let bob: Identity;
  const append = (tx: Transaction) => appendEvents(tx, [{ topic: 't', kind: 'thing-done' }]);

  beforeAll(async () => {
    database = await openTestStore(kind, { connections: 1 });
    ada = await newTenant(database, 'Ada');
    bob = await newTenant(database, 'Bob');
    await database.asTenant(bob.tenantId, (tx) => append(tx));
  });

  test('knows its tenant, and offers none where it has none', async () => {
    const known = await database.asTenant(ada.tenantId, async (tx) => {
      const [row] = await tx.query('select current_tenant() as id');
      return [tx.tenantId, row?.['id']];
    });
    expect(known).toEqual([ada.tenantId, ada.tenantId]);
    // @ts-expect-error A worker's transaction is of no tenant.
    expect(await database.asWorker(async (tx) => tx.tenantId)).toBeUndefined();
  });

  test('hints reach those who listen', async () => {
    const heard: string[] = [];
    const stop = await database.driver.listen('hints', (payload) => heard.push(payload));
    await database.driver.notify([
      { channel: 'hints', payload: 'first' },
      { channel: 'hints', payload: 'second' },
    ]);
    await expect.poll(() => heard).toEqual(['first', 'second']);
    await stop();
  });

  test('does not go on without a row where one must come', async () => {
    const one = await database.asTenant(ada.tenantId, (tx) => tx.queryOne('select 1 as n'));
    expect(one).toEqual({ n: 1 });
    const none = database.asTenant(ada.tenantId, (tx) => tx.queryOne('select 1 where false'));
    await expect(none).rejects.toMatchObject({ code: 'internal_error' });
  });

  test('that has failed lets no late statement through', async () => {
    const late = Promise.withResolvers<unknown>();
    const failing = database.asTenant(ada.tenantId, async (tx) => {
      const dawdle = async (): Promise<void> => {
        await tx.query('select 1').catch(() => {});
        await database.asTenant(bob.tenantId, (bobs) => bobs.query('select 1'));
        late.resolve(await tx.query('select kind from events').catch((error: unknown) => error));
      };
      void dawdle();
      await tx.query('select 1 / 0');
    });
    await expect(failing).rejects.toMatchObject({ code: 'value_refused' });
    expect(await late.promise).toMatchObject({ code: 'internal_error' });
  });

  test.each(['commit', ' ROLLBACK', 'begin', 'start transaction', 'end', 'abort'])(
    'is not ended from within by %s',
    async (statement) => {
      const ending = database.asTenant(ada.tenantId, (tx) => tx.query(statement));
      await expect(ending).rejects.toMatchObject({ code: 'internal_error' });
    },
  );

  test('that is given up while its statements are prepared sends none of them', async () => {
    const own = await openTestStore(kind, { connections: 1 });
    const { tenantId } = await newTenant(own);
    const giveUp = Promise.withResolvers<never>();
    const { client, release } = await own.driver.acquire();
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    Object.assign(client, {
      query: (...given: unknown[]) => {
        const sent = query(...given);
        if (/prepare "\w*late/.test(String(given[0]))) giveUp.reject(new Error('given up'));
        return sent;
      },
    });
    release();
    const late = (tx: Transaction) =>
      tx.query(
        `insert into events (tenant_id, topic, kind, payload) values ($1, 't', 'late', '{}')`,
        [tenantId],
        'late',
      );
    const work = own.asTenant(tenantId, async (tx) => {
      await tx.query('select 1');
      await Promise.all([late(tx), late(tx), giveUp.promise]);
    });
    await expect(work).rejects.toThrow('given up');
    for (let turn = 0; turn < 5; turn++) {
      const read = (tx: Transaction) => tx.query(`select 1 from events where kind = 'late'`);
      expect(await own.asTenant(tenantId, read)).toEqual([]);
    }
  });

  test('answers statements that were given together each with its own rows', async () => {
    const answers = await database.asTenant(ada.tenantId, async (tx) => {
      const [tenant, list] = await Promise.all([
        tx.query('select current_tenant() = $1 as mine', [ada.tenantId]),
        tx.query('select n from unnest($1::text[]) as n', [["it's", 'a\\b', null]]),
      ]);
      const [json, none] = await Promise.all([
        tx.query('select $1::jsonb as json', [{ n: 1 }]),
        tx.query('select 1 where $1', [false]),
      ]);
      return { tenant, list, json, none };
    });
    expect(answers).toEqual({
      tenant: [{ mine: true }],
      list: [{ n: "it's" }, { n: 'a\\b' }, { n: null }],
      json: [{ json: { n: 1 } }],
      none: [],
    });
  });

  test('runs a statement once for the rows that are given for it, behind what comes with them', async () => {
    const { tenantId } = await newTenant(database, 'Cleo');
    const sent = await watchTexts(database);
    const text = `insert into events (tenant_id, topic, kind)
      select current_tenant(), topic, kind from unnest($1::text[], $2::text[]) as e (topic, kind)`;
    await database.asTenant(tenantId, (tx) =>
      tx.finish(() =>
        Promise.all([
          tx.queryForAll(text, ['t', 'a'], 'add-all'),
          tx.query('select 2 as other'),
          tx.queryForAll(text, ['t', 'b'], 'add-all'),
        ]),
      ),
    );
    const executed = sent().flatMap((one) =>
      one.match(/select 2 as other|execute "batch_add-all"/g),
    );
    expect(executed.filter(Boolean)).toEqual(['select 2 as other', 'execute "batch_add-all"']);
    const kinds = await database.asTenant(tenantId, (tx) =>
      tx.query(`select kind from events where topic = 't' order by id`),
    );
    expect(kinds).toEqual([{ kind: 'a' }, { kind: 'b' }]);
  });

  test('saves none of the statements that were given together where one fails', async () => {
    // Readers of the log are held back by other transactions of the server; the table is not.
    const count = () =>
      database.asTenant(bob.tenantId, (tx) => tx.query('select count(*) as n from events'));
    const before = await count();
    const failing = database.asTenant(bob.tenantId, (tx) =>
      Promise.all([append(tx), tx.query('select 1 / $1::int', [0]), append(tx)]),
    );
    await expect(failing).rejects.toMatchObject({ code: 'value_refused' });
    expect(await count()).toEqual(before);
  });

  test('sends its last statements with its begin and its commit in one round trip', async () => {
    const { tenantId } = await newTenant(database, 'Dee');
    const sent = await watchTexts(database);
    const answer = await database.asTenant(tenantId, (tx) =>
      tx.finish(async () => {
        await append(tx);
        return 'saved';
      }),
    );
    expect(answer).toBe('saved');
    expect(sent()).toEqual([expect.stringMatching(/^begin;.*append-events.*commit$/s)]);
    const count = await database.asTenant(tenantId, (tx) => tx.query('select from events'));
    expect(count).toHaveLength(1);
  });

  test('saves nothing of its last statements where one fails, or where they are not all given', async () => {
    const { tenantId } = await newTenant(database, 'Eve');
    const failing = database.asTenant(tenantId, (tx) =>
      tx.finish(() => Promise.all([append(tx), tx.query('select 1 / $1::int', [0])])),
    );
    await expect(failing).rejects.toMatchObject({ code: 'value_refused' });
    const check = async (): Promise<void> => {
      throw new Error('not to be saved');
    };
    const throwing = database.asTenant(tenantId, (tx) =>
      tx.finish(() => Promise.all([append(tx), check()])),
    );
    await expect(throwing).rejects.toThrow('not to be saved');
    const late = database.asTenant(tenantId, (tx) =>
      tx.finish(async () => {
        await tx.query('select 1');
        await append(tx);
      }),
    );
    await expect(late).rejects.toMatchObject({ code: 'internal_error' });
    const count = await database.asTenant(tenantId, (tx) => tx.query('select from events'));
    expect(count).toHaveLength(0);
  });

  test('of which the first statement cannot be sent runs none of the others', async () => {
    const tried: unknown[] = [];
    const failing = database.asTenant(ada.tenantId, async (tx) => {
      for (const [text, value] of [
        ['select $1::text as first', 'a\0b'],
        ['select current_user as second', null],
      ] as const) {
        const values = value === null ? [] : [value];
        tried.push(await tx.query(text, values).catch((error: unknown) => error));
      }
    });
    await expect(failing).rejects.toMatchObject({
      message: expect.stringContaining('nothing was'),
    });
    expect(tried).toMatchObject([{ code: 'value_refused' }, { code: 'value_refused' }]);
  });

  test('that the server cannot parse leaves nothing that follows outside of it', async () => {
    const behind: unknown[] = [];
    const failing = database.asTenant(ada.tenantId, async (tx) => {
      const later = Promise.resolve().then(async () => {
        await Promise.resolve();
        behind.push(await tx.query('select current_user as role').catch((error: unknown) => error));
      });
      await Promise.allSettled([tx.query('selec 1'), later]);
    });
    await expect(failing).rejects.toMatchObject({ code: 'internal_error' });
    expect(behind).toHaveLength(1);
    expect(behind[0]).toBeInstanceOf(Error);
  });

  test('may go back to a savepoint', async () => {
    const { tenantId } = await newTenant(database, 'Cy');
    await database.asTenant(tenantId, async (tx) => {
      await append(tx);
      await tx.query('savepoint s');
      await expect(tx.query('select 1 / 0')).rejects.toThrow('division by zero');
      await tx.query('rollback to savepoint s');
    });
    const read = () => readEvents(database, { tenantId, after: null });
    await expect.poll(read).toHaveLength(1);
  });

  test('in which a failure was passed over is not acknowledged', async () => {
    const swallowing = database.asTenant(ada.tenantId, async (tx) => {
      await append(tx);
      await tx.query('select 1 / 0').catch(() => {});
      return 'acknowledged';
    });
    await expect(swallowing).rejects.toMatchObject({
      code: 'internal_error',
      cause: { message: 'division by zero' },
    });
    expect(await readEvents(database, { tenantId: ada.tenantId, after: null })).toEqual([]);
  });

  test('whose function raises with an unknown code fails with its message', async () => {
    const raising = database.asTenant(ada.tenantId, (tx) =>
      tx.query("do $$ begin raise 'odd' using errcode = 'DX000', hint = 'no_such_code'; end $$"),
    );
    await expect(raising).rejects.toMatchObject({ code: 'internal_error', message: 'odd' });
  });
});
