import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Database, Scope } from '../../src/db/database.ts';
import { appendEvents, EVENTS_CHANNEL } from '../../src/db/events.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import { Bench, named } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { insertRow, insertSampleRows, sampleRow, tenantTables } from './sample-rows.ts';

const LEDGER = ['accounts', 'postings', 'entries', 'holds', 'budgets'];

describeOnBoth('the role of a tenant', (kind) => {
  let database: Database;
  let own: string;
  let other: string;
  const scope = (tenantId: string): Scope => ({ as: 'tenant', tenantId });
  const refused = (statement: Promise<unknown>, what: string) =>
    expect(statement, what).rejects.toMatchObject({ code: 'access_denied' });
  const dump = (tables: readonly string[], tenantId: string) =>
    database.transaction({ as: 'owner' }, async (tx) => {
      const rows: unknown[] = [];
      for (const table of tables) {
        const sql = `select t::text as row from ${table} t where tenant_id = $1 order by 1`;
        rows.push(await tx.query(sql, [tenantId]));
      }
      return JSON.stringify(rows);
    });

  beforeAll(async () => {
    database = await openTestStore(kind);
    [own, other] = [randomUUID(), randomUUID()];
    await database.transaction({ as: 'owner' }, async (tx) => {
      for (const tenantId of [own, other]) await insertSampleRows(tx, tenantId);
    });
  });

  test('writes no column of the ledger, adds no row and takes none away', async () => {
    const before = await dump(LEDGER, own);
    for (const table of LEDGER) {
      const columns = await database.transaction({ as: 'owner' }, (tx) =>
        tx.query<{ name: string }>(
          `select attname as name from pg_attribute
           where attrelid = $1::regclass and attnum > 0 and not attisdropped
             and attidentity = ''`,
          [table],
        ),
      );
      expect(columns.length).toBeGreaterThan(5);
      for (const { name } of columns) {
        const update = `update ${table} set ${name} = ${name}`;
        await refused(
          database.transaction(scope(own), (tx) => tx.query(update)),
          `${table}.${name}`,
        );
      }
      const row = await database.transaction({ as: 'owner' }, (tx) => sampleRow(tx, table, own));
      await refused(
        database.transaction(scope(own), (tx) => insertRow(tx, table, row)),
        `insert into ${table}`,
      );
      await refused(
        database.transaction(scope(own), (tx) => tx.query(`delete from ${table}`)),
        `delete from ${table}`,
      );
    }
    expect(await dump(LEDGER, own)).toBe(before);
  });

  test("moves no money of another tenant through the ledger's functions", async () => {
    const tables = await database.transaction({ as: 'owner' }, (tx) => tenantTables(tx));
    const before = await dump(tables, other);
    for (const sql of [
      `select grant_funds('${other}', 'forged', null, 'USD', 5, '{}')`,
      `select set_budget('${other}', 'tenant', '${other}', 'USD', 5)`,
      `select remove_limit('${other}', 'user', '', 'USD')`,
      `select set_spending_share('${other}', 1)`,
      `select settle_left_holds('${other}')`,
      `select lock_wallets('${other}')`,
      `select hold_funds('${other}', '${randomUUID()}', 'document', null, 'x', 1, 1, 0, 0, false)`,
    ]) {
      // Refused, or without effect.
      await database.transaction(scope(own), (tx) => tx.query(sql)).catch(() => {});
    }
    expect(await dump(tables, other)).toBe(before);
  });

  test('cannot have the inner functions of the ledger write', async () => {
    const { tenantId } = await newTenant(database);
    for (const sql of [
      `select open_account($1, 'user', '', 'USD', true)`,
      `select move_funds($1, 'k', 'grant', 'c', gen_random_uuid(), 'USD', 5, '{}')`,
    ]) {
      await refused(
        database.transaction(scope(tenantId), (tx) => tx.query(sql, [tenantId])),
        sql,
      );
    }
  });

  test('chooses neither the transaction nor the time of an event', async () => {
    for (const [column, value] of [
      ['tx', `'1'`],
      ['created_at', `'2000-01-01'`],
    ]) {
      const sql = `insert into events (tenant_id, topic, kind, ${column}) values ($1, 't', 'k', ${value})`;
      await refused(
        database.transaction(scope(own), (tx) => tx.query(sql, [own])),
        column!,
      );
    }
  });

  test('hears nothing of others but that something happened', async () => {
    const heard: string[] = [];
    const stop = await database.driver.listen(EVENTS_CHANNEL, (payload) => heard.push(payload));
    await database.asTenant(other, (tx) =>
      appendEvents(tx, [{ topic: 'session/secret', kind: 'k', payload: {} }]),
    );
    await expect.poll(() => heard.length).toBeGreaterThan(0);
    await stop();
    expect(new Set(heard)).toEqual(new Set(['']));
  });

  test('with a session of the same id changes nothing for the other session', async () => {
    const victim = await newTenant(database);
    const thief = await newTenant(database);
    const theirs = await Bench.open(database, victim.tenantId, { maxRunning: 2 });
    await theirs.enqueue(named('a'), named('b'));
    await database.transaction({ as: 'tenant', tenantId: thief.tenantId }, async (tx) => {
      await tx.query(
        `insert into sessions (tenant_id, id, status, max_running) values ($1, $2, 'running', 1)`,
        [thief.tenantId, theirs.sessionId],
      );
    });
    const copy = Bench.at(database, thief.tenantId, theirs.sessionId);
    await copy.enqueue(named('x'), named('y'));
    const claim = (only?: { tenantId: string; sessionId: string }) =>
      claimJobs(database, randomUUID(), 50, 60_000, 'nothing', only);
    // A run that works on its own session does not do another tenant's work.
    const first = await claim(copy);
    expect(first.map(({ tenantId }) => tenantId)).toEqual([thief.tenantId]);
    // What the thief has running does not count against the victim's limit, nor the other way round.
    const second = await claim();
    const both = second.filter(({ sessionId }) => sessionId === theirs.sessionId);
    expect(both.map(({ tenantId }) => tenantId)).toEqual([victim.tenantId, victim.tenantId]);
  });
});
