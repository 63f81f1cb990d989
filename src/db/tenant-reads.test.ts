import { beforeAll, expect, test } from 'vitest';
import { describeOnBoth, newTenant, openTestStore } from '../../test/stores.ts';
import { watchTexts } from '../../test/watch-texts.ts';
import type { Database } from './database.ts';
import { appendEvents } from './events.ts';

describeOnBoth('reads of a tenant', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  const double = (value: number) =>
    database
      .readsOf(tenantId)
      .query<{ two: number }>('select 2 * $1::int as two', [value], 'double')
      .then(([row]) => row?.two);
  const note = (kindOfEvent: string) =>
    database.asTenant(tenantId, (tx) => appendEvents(tx, [{ topic: 'read', kind: kindOfEvent }]));
  const countEvents = async () => {
    const { count } = await database
      .readsOf(tenantId)
      .queryOne<{ count: number }>('select count(*)::int as count from events');
    return count;
  };

  test('take one round trip together, and ask once for what several ask', async () => {
    const sent = await watchTexts(database);
    expect(await Promise.all([1, 2, 1, 1].map(double))).toEqual([2, 4, 2, 2]);
    const texts = sent().filter((text) => text.includes('execute "batch_double"'));
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/^begin;.*commit$/s);
    expect(texts[0]?.match(/execute "batch_double"/g)).toHaveLength(2);
  });

  test('see what was committed before they were given', async () => {
    const before = await countEvents();
    const first = countEvents();
    await note('a');
    expect(await countEvents()).toBe(before + 1);
    expect(await first).toBeLessThanOrEqual(before + 1);
  });

  test('see the rows of their tenant alone', async () => {
    const other = await newTenant(database, 'other');
    await note('b');
    const [row] = await database
      .readsOf(other.tenantId)
      .query<{ count: number }>('select count(*)::int as count from events where topic = $1', [
        'read',
      ]);
    expect(row?.count).toBe(0);
  });

  test('of which one fails are answered without it', async () => {
    const reads = database.readsOf(tenantId);
    const results = await Promise.allSettled([
      double(3),
      reads.query('select 1 / $1::int as none', [0]),
      double(4),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results.map((result) => 'value' in result && result.value)).toEqual([6, false, 8]);
  });
});
