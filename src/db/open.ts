import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../platform/log.ts';
import { hasDatabase } from './data-directory.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { EmbeddedDriver, type EmbeddedOptions } from './embedded-driver.ts';
import { giveEpoch } from './events.ts';
import { refuseForeignObjects } from './foreign-objects.ts';
import { findImage } from './make-image.ts';
import { migrate } from './migrate.ts';
import { compilePglite } from './pglite-module.ts';
import { ServerDriver, type ServerOptions } from './server-driver.ts';
import { findOpenRights } from './server-rights.ts';

/** Where a store lives: a PostgreSQL server, or a data directory on this machine. */
export type StoreLocation = { readonly databaseUrl: string } | { readonly dataDirectory: string };

export type OpenOptions = DatabaseOptions &
  EmbeddedOptions &
  ServerOptions & {
    /** false leaves the schema as it is, for read-only commands. */
    readonly migrate?: boolean;
    /** Hears what a server leaves open to others, when the schema was set up or brought up to date. */
    readonly log?: Log;
  };

/** Reads the location from the command line and the environment, the former first. */
export function locateStore(
  environment: Readonly<Record<string, string | undefined>>,
  dataDirectory?: string,
): StoreLocation {
  if (dataDirectory) return { dataDirectory };
  if (environment['DATABASE_URL']) return { databaseUrl: environment['DATABASE_URL'] };
  return { dataDirectory: environment['DIALECTIC_DATA'] || join(homedir(), '.dialectic') };
}

/** Opens the store and brings its schema up to date, unless told not to. */
export async function openDatabase(
  location: StoreLocation,
  options: OpenOptions = {},
): Promise<Database> {
  const isNew = 'dataDirectory' in location && !hasDatabase(location.dataDirectory);
  // A first store is unpacked meanwhile; whether it can be compiled shows when the store is opened.
  if (isNew) void compilePglite().catch(() => {});
  const driver =
    'databaseUrl' in location
      ? await ServerDriver.open(location.databaseUrl, options)
      : await EmbeddedDriver.open(location.dataDirectory, {
          ...options,
          // The image has the newest schema, which a caller who migrates by itself does not want.
          ...(isNew && options.migrate !== false && { image: await findImage() }),
        });
  const database = new Database(driver, options);
  try {
    // Before any other statement, which could already mean what somebody has planted.
    await refuseForeignObjects(driver);
    if (options.migrate === false) return database;
    const applied = await migrate(database);
    if (applied.length > 0) {
      // The first migration may have closed the schema only now.
      await refuseForeignObjects(driver);
      await tellOpenRights(database, options.log);
    }
    if (isNew) await giveEpoch(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  driver.ready();
  return database;
}

/** Once, since `dialectic doctor` says it at any time. */
async function tellOpenRights(database: Database, log: Log = () => {}): Promise<void> {
  for (const { message, next } of await findOpenRights(database)) log(`${message} ${next}`);
}
