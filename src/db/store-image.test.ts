import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, inject, test } from 'vitest';
import { openStore, temporaryFolder } from '../../test/stores.ts';
import { migrate } from './migrate.ts';
import { packImage, unpackImage } from './store-image.ts';

/** Every file with its content, and every folder. */
function describeFolder(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const lines = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const content = entry.isFile()
      ? createHash('sha256').update(readFileSync(path)).digest('hex')
      : 'folder';
    return `${relative(folder, path)} ${content}`;
  });
  return lines.toSorted();
}

test('an image unpacks to the files that were packed, for their owner alone', async () => {
  const folder = await temporaryFolder();
  const [image, unpacked] = [join(folder, 'image'), join(folder, 'unpacked')];
  const database = join(inject('embeddedTemplate'), 'pgdata');
  await packImage(database, image);
  await unpackImage(image, unpacked);
  expect(describeFolder(unpacked)).toEqual(describeFolder(database));
  const open = readdirSync(unpacked, { recursive: true, encoding: 'utf8' }).filter(
    (path) => (statSync(join(unpacked, path)).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
});

test('an image leads out of no folder', async () => {
  for (const path of ['../out', '/tmp/out', 'a/../../out', String.raw`..\out`]) {
    const folder = await temporaryFolder();
    const header = Buffer.from(
      JSON.stringify({ folders: [], files: [{ path, bytes: 0, used: 0 }] }),
    );
    const length = Buffer.alloc(4);
    length.writeUInt32BE(header.length);
    const packed = brotliCompressSync(Buffer.concat([length, header]));
    const sum = createHash('sha256').update(packed).digest();
    writeFileSync(join(folder, 'image'), Buffer.concat([sum, packed]));
    const unpacking = unpackImage(join(folder, 'image'), join(folder, 'unpacked'));
    await expect(unpacking).rejects.toThrow(`names ${path}`);
    expect(readdirSync(folder)).toEqual(['image']);
  }
});

test('an image that is cut short is refused before a file is written', async () => {
  const folder = await temporaryFolder();
  const image = join(folder, 'image');
  await packImage(join(inject('embeddedTemplate'), 'pgdata', 'global'), image);
  truncateSync(image, statSync(image).size - 1);
  await expect(unpackImage(image, join(folder, 'unpacked'))).rejects.toThrow('is not whole');
  expect(readdirSync(folder)).toEqual(['image']);
});

test('a store made from the image has one database, and can be written after it was opened again', async () => {
  const dataDirectory = join(await temporaryFolder(), 'store');
  await (await openStore({ dataDirectory })).close();
  expect(readdirSync(join(dataDirectory, 'pgdata', 'base'))).toHaveLength(1);
  const store = await openStore({ dataDirectory });
  const names = await store.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('create table made as select 1');
    return tx.query('select datname from pg_database');
  });
  expect(names).toEqual([{ datname: 'postgres' }]);
});

test('stores made from the image have the schema and an epoch each of its own', async () => {
  const epochs = [];
  for (const name of ['one', 'two']) {
    const store = await openStore({ dataDirectory: join(await temporaryFolder(), name) });
    expect(await migrate(store)).toEqual([]);
    epochs.push(
      await store.transaction({ as: 'owner' }, (tx) => tx.query('select epoch from store_epoch')),
    );
    await store.close();
  }
  expect(epochs[0]).not.toEqual(epochs[1]);
});
