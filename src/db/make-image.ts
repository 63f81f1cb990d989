import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { databaseFolder } from './data-directory.ts';
import { Database } from './database.ts';
import { EmbeddedDriver } from './embedded-driver.ts';
import { markAsImage } from './events.ts';
import { migrate } from './migrate.ts';
import { locateImage, packImage } from './store-image.ts';

/** Makes a database with PostgreSQL's initdb and all migrations, and packs it. */
export async function makeImage(image: string): Promise<void> {
  await mkdir(dirname(image), { recursive: true });
  const directory = await mkdtemp(`${image}.making-`);
  try {
    const database = new Database(await EmbeddedDriver.open(directory, { backupEveryMs: 0 }));
    try {
      await migrate(database);
      await markAsImage(database);
      await dropTemplates(database);
    } finally {
      await database.close();
    }
    await packImage(databaseFolder(directory), image);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Drops the databases from which CREATE DATABASE copies, which a store never does: they are half of
 * the files that every first store and every backup of one would hold.
 */
async function dropTemplates({ driver }: Database): Promise<void> {
  const { client, release } = await driver.acquire();
  try {
    for (const name of ['template0', 'template1']) {
      await client.query(`alter database ${name} is_template false`);
      await client.query(`drop database ${name}`);
    }
  } finally {
    release();
  }
}

/**
 * The image that a first store is unpacked from. A clone makes it once. Where that is not possible
 * there is none: it only saves time, and a fault of the disk shows again when the store itself is made.
 */
export async function findImage(): Promise<string | undefined> {
  const image = locateImage();
  if (image === undefined || existsSync(image)) return image;
  return makeImage(image).then(
    () => image,
    () => undefined,
  );
}
