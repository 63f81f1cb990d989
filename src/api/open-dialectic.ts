import { resolve } from 'node:path';
import { locateStore, openDatabase, type StoreLocation } from '../db/open.ts';
import { ensureLocalTenant } from '../db/tenants.ts';
import { codeOf } from '../errors/errors.ts';
import { readSourcesSettings, type SourcesFile } from '../gather/sources-settings.ts';
import { type JobsFile, readJobSettings } from '../jobs/settings.ts';
import {
  type Environment,
  type FolderPart,
  type ModelsFile,
  NO_FOLDER,
  readModelsConfig,
} from '../models/config.ts';
import { elapsedMs, sleep } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { type RetentionFile, readRetentionDays } from '../session/retention-settings.ts';
import { findAddress } from '../transport/socket-address.ts';
import type { SpendingFile } from '../wallet/spending-settings.ts';
import { createClient, type Transport } from './client.ts';
import { type Dialectic, LocalDialectic } from './dialectic.ts';
import { HeldStore } from './held-store.ts';
import { inProcess } from './in-process.ts';
import { meetHolder, overSocket } from './over-socket.ts';
import { searchWeb } from './search-web.ts';
import { shareStore } from './share-store.ts';

/** Providers, models, jobs, retention, spending and sources, as in `dialectic.config.yaml`. */
export type Configuration = ModelsFile & JobsFile & RetentionFile & SpendingFile & SourcesFile;

/** Which store is meant. */
export type StoreOptions = {
  /**
   * A folder on this machine, which one process at a time can open; DIALECTIC_DATA or ~/.dialectic
   * where neither this nor a database is named.
   */
  readonly dataDirectory?: string | undefined;
  /** A PostgreSQL database, which any number of processes can open. */
  readonly databaseUrl?: string | undefined;
  /** Where keys and addresses of providers are read; `process.env` where absent. */
  readonly environment?: Environment | undefined;
};

export type DialecticOptions = StoreOptions & {
  readonly configuration?: Configuration | undefined;
  /** What the configuration of a folder adds to the user's own; nothing where absent. */
  readonly folder?: FolderPart | undefined;
  /** Keys of search services by their names, for those that the environment has no key of. */
  readonly searchKeys?: ReadonlyMap<string, string> | undefined;
  /**
   * Whether runs are worked on with this store; true where absent. false: other processes that want
   * to work on runs wait until it is closed, rather than use the configuration that it was opened with.
   */
  readonly callsModels?: boolean | undefined;
  /** Ends the wait for another process to open, to answer for or to close a folder that it holds. */
  readonly signal?: AbortSignal | undefined;
  /** How often an embedded store is copied to its backups; 0 = never. */
  readonly backupEveryMs?: number | undefined;
  /** Hears warnings of workers; nothing is printed where absent. */
  readonly log?: Log | undefined;
};

/**
 * Opens a store, and makes it where there is none yet. A folder that another process holds is used
 * through that process, which works on runs with its own configuration and keys; when it ends, this
 * one takes the folder over.
 */
export async function openDialectic(options: DialecticOptions = {}): Promise<Dialectic> {
  const location = locate(options);
  if (!('dataDirectory' in location)) return openStore(location, options);
  const first = await openOrReach(location.dataDirectory, options);
  if (first instanceof LocalDialectic) return first;
  const open = async (): Promise<Transport> => {
    const found = await openOrReach(location.dataDirectory, options);
    return found instanceof LocalDialectic ? inProcess(found) : found;
  };
  return createClient(new HeldStore(first, open));
}

/** A holder needs this long at most to open its store and to answer, even on a slow disk. */
const HOLDER_MS = 10_000;
const AGAIN_MS = 50;

/** The store of a folder, or the way to the process that holds it. */
async function openOrReach(
  dataDirectory: string,
  options: DialecticOptions,
): Promise<LocalDialectic | Transport> {
  const directory = resolve(dataDirectory);
  const until = elapsedMs() + HOLDER_MS;
  for (;;) {
    try {
      return await openStore({ dataDirectory }, options);
    } catch (thrown) {
      if (codeOf(thrown) !== 'data_directory_locked') throw thrown;
      const address = findAddress(directory);
      const holder = await meetHolder(address);
      if (holder && (holder.callsModels || options.callsModels === false)) {
        return overSocket(address);
      }
      // It has only begun, or is about to end; or it answers for reading and steering alone.
      if (elapsedMs() > until) throw thrown;
      await sleep(AGAIN_MS, options.signal);
      if (options.signal?.aborted) throw thrown;
    }
  }
}

async function openStore(
  location: StoreLocation,
  options: DialecticOptions,
): Promise<LocalDialectic> {
  const { environment = process.env, configuration = {}, folder = NO_FOLDER } = options;
  const { backupEveryMs, log = () => {} } = options;
  const models = readModelsConfig(environment, configuration, folder);
  const jobs = readJobSettings(configuration);
  const retentionDays = readRetentionDays(configuration);
  const sources = readSourcesSettings(configuration);
  const access = { environment, keys: options.searchKeys, isFolders: folder.search };
  const search = searchWeb(sources, access);
  const likeness = sources.mergeAt === undefined ? undefined : { mergeAt: sources.mergeAt };
  const database = await openDatabase(
    location,
    backupEveryMs === undefined ? { log } : { log, backupEveryMs },
  );
  try {
    const { tenantId } = await ensureLocalTenant(database);
    const store = { database, tenantId, models, jobs, retentionDays, log, search, likeness };
    if (!('dataDirectory' in location)) return new LocalDialectic(store);
    return await shareStore(store, resolve(location.dataDirectory), options.callsModels ?? true);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Where the store lies that the options name. */
export function locate({
  dataDirectory,
  databaseUrl,
  environment = process.env,
}: StoreOptions): StoreLocation {
  return databaseUrl && !dataDirectory ? { databaseUrl } : locateStore(environment, dataDirectory);
}
