import { writeFileSync } from 'node:fs';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fillDisk, mountSmallDisk, testWithDisk } from '../../test/small-disk.ts';
import {
  emptyDirectory,
  newTenant,
  openStore,
  openTestStore,
  temporaryFolder,
} from '../../test/stores.ts';
import type { Database } from './database.ts';
import type { EmbeddedDriver } from './embedded-driver.ts';
import { appendEvents, EVENTS_CHANNEL } from './events.ts';
import { openDatabase } from './open.ts';
import { compilePglite } from './pglite-module.ts';
import { ensureLocalTenant, LOCAL_TENANT } from './tenants.ts';

const tenantId = LOCAL_TENANT;
const append = (database: Database, text: string) =>
  database.asTenant(tenantId, (tx) =>
    appendEvents(tx, [{ topic: 't', kind: 'text-written', payload: { text } }]),
  );
const count = async (database: Database) =>
  (await database.asTenant(tenantId, (tx) => tx.query('select 1 from events'))).length;

test('timers keep their beat under a tight query loop', async () => {
  const database = await openTestStore('embedded');
  const { tenantId } = await newTenant(database);
  await database.asTenant(tenantId, (tx) => tx.query('select 1')); // warm
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  let queries = 0;
  // On the main thread no tick would come between the queries, and this would not end.
  while (ticks < 20) {
    await database.asTenant(tenantId, (tx) => tx.query('select 1'));
    queries++;
  }
  clearInterval(timer);
  expect(queries).toBeGreaterThan(0);
});

test('a thread that dies is opened again, and what it had acknowledged is there', async () => {
  const database = await openTestStore('embedded');
  await ensureLocalTenant(database);
  await append(database, 'before');
  const broken = database.asTenant(tenantId, async (tx) => {
    await tx.query(
      'insert into notices (tenant_id, id, severity, code, message, topic) values ($1, gen_random_uuid(), $2, $3, $4, $5)',
      [tenantId, 'info', 'x', 'half done', 't'],
    );
    await (database.driver as EmbeddedDriver).terminateThread();
    await tx.query('select 1');
  });
  await expect(broken).rejects.toMatchObject({ code: 'storage_closed', retryable: true });
  await append(database, 'after');
  expect(await count(database)).toBe(2);
  expect(await database.asTenant(tenantId, (tx) => tx.query('select 1 from notices'))).toEqual([]);
});

const threadOf = (database: Database) => database.driver as EmbeddedDriver;

test('a thread that dies in the middle of a query fails that query alone', async () => {
  const database = await openTestStore('embedded');
  const long = database.transaction({ as: 'owner' }, (tx) =>
    tx.query('select count(*) from generate_series(1, 50000000)'),
  );
  const failing = expect(long).rejects.toMatchObject({ code: 'storage_closed', retryable: true });
  await sleep(300);
  const started = performance.now();
  await threadOf(database).terminateThread();
  await failing;
  await database.asWorker((tx) => tx.query('select 1'));
  console.log(`answers again after ${Math.round(performance.now() - started)} ms`);
});

test('a commit that got no answer is told from one that failed', async () => {
  const database = await openTestStore('embedded');
  const uncertain = database.asWorker(async (tx) => {
    await tx.query('select 1');
    await threadOf(database).terminateThread();
  });
  await expect(uncertain).rejects.toMatchObject({
    code: 'storage_closed',
    details: { outcome: 'unknown' },
  });
  const certain = database.asWorker(async (tx) => {
    await threadOf(database).terminateThread();
    await tx.query('select 1');
  });
  await expect(certain).rejects.toMatchObject({ code: 'storage_closed', details: {} });
});

test('listeners are woken when a dead thread is opened again, and hear as before', async () => {
  const database = await openTestStore('embedded');
  await ensureLocalTenant(database);
  const heard: string[] = [];
  await database.driver.listen(EVENTS_CHANNEL, () => {
    throw new Error('this one always fails');
  });
  await database.driver.listen(EVENTS_CHANNEL, (payload) => heard.push(payload));
  await append(database, 'first');
  await expect.poll(() => heard).toEqual(['']);
  await threadOf(database).terminateThread();
  await append(database, 'second');
  await expect.poll(() => heard).toEqual(['', '', '']);
});

test('closing twice at once closes once, after the work that had begun', async () => {
  const dataDirectory = await emptyDirectory();
  const database = await openStore({ dataDirectory });
  await ensureLocalTenant(database);
  const work = [append(database, 'a'), append(database, 'b')];
  await Promise.all([...work, database.close(), database.close()]);
  const closed = { code: 'storage_closed', retryable: false };
  await expect(append(database, 'late')).rejects.toMatchObject(closed);
  await expect(database.driver.listen('x', () => {})).rejects.toMatchObject(closed);
  const again = await openStore({ dataDirectory });
  expect(await count(again)).toBe(2);
  await again.close();
});

test('a lock file that somebody removes ends the database before another can open it', async () => {
  const dataDirectory = await emptyDirectory();
  const database = await openStore({ dataDirectory }, { backupEveryMs: 3_600_000 });
  await rm(join(dataDirectory, 'lock'));
  const look = () => database.asWorker((tx) => tx.query('select 1')).catch((error) => error);
  await expect.poll(look).toMatchObject({
    code: 'storage_closed',
    retryable: false,
    message: expect.stringContaining('lock file'),
  });
  await database.close();
  expect(await readdir(dataDirectory)).not.toContain('backups');
});

test("the database's own word for a full disk pauses the work until there is room", async () => {
  const database = await openTestStore('embedded');
  const failing = database.asWorker((tx) =>
    tx.query("do $$ begin raise exception 'no room' using errcode = '53100'; end $$"),
  );
  await expect(failing).rejects.toMatchObject({ code: 'storage_full', retryable: true });
  const next = database.asWorker((tx) => tx.query('select 1'));
  await expect(next).rejects.toMatchObject({ code: 'storage_full' });
  await database.driver.untilWritable();
  await database.asWorker((tx) => tx.query('select 1'));
});

test('a folder that cannot be written is refused by name', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const inFile = openDatabase({ dataDirectory: join(file, 'data') });
  await expect(inFile).rejects.toMatchObject({ code: 'data_directory_unusable' });
  if (process.getuid?.() === 0) return; // root may write anywhere; the mounted test covers it
  await mkdir(join(folder, 'shut'));
  await chmod(join(folder, 'shut'), 0o500);
  const inShut = openDatabase({ dataDirectory: join(folder, 'shut') });
  await expect(inShut).rejects.toMatchObject({ code: 'data_directory_unusable' });
});

test('a database of another PostgreSQL is refused by name', async () => {
  const dataDirectory = await emptyDirectory();
  writeFileSync(join(dataDirectory, 'pgdata', 'PG_VERSION'), '17\n');
  const opening = openDatabase({ dataDirectory });
  await expect(opening).rejects.toMatchObject({
    code: 'data_directory_unusable',
    details: { found: '17' },
  });
});

testWithDisk('a read-only disk is refused by name (needs mount)', async () => {
  const disk = await mountSmallDisk(4, 'ro');
  const opening = openDatabase({ dataDirectory: join(disk, 'data') });
  await expect(opening).rejects.toMatchObject({ code: 'data_directory_unusable' });
});

testWithDisk('a disk that is full from the start is refused by name (needs mount)', async () => {
  const disk = await mountSmallDisk(40);
  fillDisk(disk, 1_000_000);
  const opening = openDatabase({ dataDirectory: join(disk, 'data') });
  await expect(opening).rejects.toMatchObject({
    code: 'storage_full',
    retryable: true,
    message: expect.stringMatching(
      /^The disk of \S+ is full: \d+ MB are free, 84 MB are needed to go on; /,
    ) as string,
  });
});

testWithDisk('a disk without a single free byte is refused by name (needs mount)', async () => {
  const disk = await mountSmallDisk(60);
  const dataDirectory = await emptyDirectory(join(disk, 'data'));
  fillDisk(disk, 0);
  const opening = openDatabase({ dataDirectory });
  await expect(opening).rejects.toMatchObject({ code: 'storage_full', retryable: true });
  const left = (await readdir(dataDirectory)).filter((name) => name.startsWith('holder.json.'));
  expect(left).toEqual([]);
});

testWithDisk(
  'a disk that fills up pauses the work; with room it goes on (needs mount)',
  async () => {
    const disk = await mountSmallDisk(150);
    const dataDirectory = join(disk, 'data');
    const database = await openStore({ dataDirectory }, { reserveBytes: 1_000_000 });
    await ensureLocalTenant(database);
    const filler = fillDisk(disk, 3_000_000);
    const text = 'x'
      .repeat(50_000)
      .replaceAll('x', () => String.fromCharCode(33 + Math.random() * 90));
    let acknowledged = 0;
    const started = performance.now();
    const writing = (async () => {
      for (;;) {
        await append(database, text);
        acknowledged++;
      }
    })();
    await expect(writing).rejects.toMatchObject({ code: 'storage_full' });
    console.log(`paused after ${acknowledged} rows, ${Math.round(performance.now() - started)} ms`);
    await expect(append(database, 'more')).rejects.toMatchObject({ code: 'storage_full' });

    await rm(filler);
    await database.driver.untilWritable();
    await append(database, 'with room again');
    const rows = await count(database);
    expect(rows).toBeGreaterThanOrEqual(acknowledged + 1);
    expect(rows).toBeLessThanOrEqual(acknowledged + 2); // one may have lost its acknowledgement
    await database.close();
    const reopened = await openStore({ dataDirectory }, { reserveBytes: 1_000_000 });
    expect(await count(reopened)).toBe(rows);
    await reopened.close();
  },
);

test('the stores of one process share one compiled module and little memory', async () => {
  expect(await compilePglite()).toBe(await compilePglite());
  const database = await openTestStore('embedded');
  const read = database.transaction({ as: 'owner' }, (tx) => tx.query('show shared_buffers'));
  expect(await read).toEqual([{ shared_buffers: '32MB' }]);
});
