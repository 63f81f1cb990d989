import { beforeAll, expect, test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../../test/stores.ts';
import { DialecticError } from '../errors/errors.ts';
import { elapsedMs, sleep } from '../platform/clock.ts';
import type { Database } from './database.ts';
import type { Transaction } from './transaction.ts';
import { TransactionGroup } from './transaction-group.ts';

describeOnBoth('transactions of a group', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  const note = async (tx: Transaction, kindOfEvent: string): Promise<string> => {
    const [row] = await tx.query<{ tx: string }>(
      `insert into events (tenant_id, topic, kind, payload) values ($1, 'group', $2, '{}')
       returning tx::text`,
      [tenantId, kindOfEvent],
    );
    return row!.tx;
  };
  const saved = async (): Promise<string[]> => {
    const rows = await database.asTenant(tenantId, (tx) =>
      tx.query<{ kind: string }>(`select kind from events where topic = 'group' order by id`),
    );
    return rows.map((row) => row.kind);
  };

  test('that are given while another one is under way are one transaction', async () => {
    const together = (name: string) =>
      database.together(tenantId, 'session', (tx) => note(tx, name));
    const ids = await Promise.all(['a', 'b', 'c'].map(together));
    expect(new Set(ids).size).toBe(1);
    const later = await together('d');
    expect(ids).not.toContain(later);
    expect(await saved()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('of which one fails are saved without it', async () => {
    const before = await saved();
    const results = await Promise.allSettled([
      database.together(tenantId, 'session', (tx) => note(tx, 'e')),
      database.together(tenantId, 'session', (tx) => tx.query('select 1 / 0')),
      database.together(tenantId, 'session', (tx) => note(tx, 'f')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await saved()).toEqual([...before, 'e', 'f']);
  });

  test('have nothing under way when the last of them hears that it failed', async () => {
    const group = new TransactionGroup(database, tenantId, 8);
    const fail = () => group.add((tx) => tx.query('select 1 / 0'));
    const hear = () => fail().catch(() => group.isIdle);
    expect(await hear()).toBe(true);
    expect(await Promise.all([hear(), hear()])).toEqual([true, true]);
  });

  test('of a store that gives no connection wait for one alone', async () => {
    const own = await openTestStore(kind);
    const { driver } = own;
    const acquire = driver.acquire.bind(driver);
    let tries = 0;
    driver.acquire = async () => {
      tries++;
      await sleep(50);
      throw new DialecticError('database_unreachable', 'away', { retryable: true });
    };
    const group = new TransactionGroup(own, tenantId, 2);
    const add = () => group.add((tx) => tx.query('select 1'));
    const results = await Promise.allSettled([add(), add(), add(), add(), add()]);
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'rejected'));
    expect(tries).toBe(1);
    driver.acquire = acquire;
    expect(await add()).toHaveLength(1);
  });

  test('are told what they saved while the next ones are under way', async () => {
    const add = async (text: string): Promise<number> => {
      await database.together(tenantId, 'session', (tx) => tx.query(text));
      return elapsedMs();
    };
    const first = Array.from({ length: 8 }, () => add('select 1'));
    const [last, next] = await Promise.all([
      Promise.all(first).then((told) => Math.max(...told)),
      add('select pg_sleep(0.3)'),
    ]);
    expect(next - last).toBeGreaterThan(200);
  });
});
