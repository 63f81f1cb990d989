import { locateStore, openDatabase, type StoreLocation } from '../db/open.ts';
import { ensureLocalTenant } from '../db/tenants.ts';
import { type JobsFile, readJobSettings } from '../jobs/settings.ts';
import { type Environment, type ModelsFile, readModelsConfig } from '../models/config.ts';
import type { Log } from '../platform/log.ts';
import { type RetentionFile, readRetentionDays } from '../session/retention-settings.ts';
import { Dialectic } from './dialectic.ts';

/** Providers, models, jobs and retention, as in `dialectic.config.yaml`. */
export type Configuration = ModelsFile & JobsFile & RetentionFile;

export type DialecticOptions = {
  /**
   * A folder on this machine, which one process at a time can open; DIALECTIC_DATA or ~/.dialectic
   * where neither this nor a database is named.
   */
  readonly dataDirectory?: string | undefined;
  /** A PostgreSQL database, which any number of processes can open. */
  readonly databaseUrl?: string | undefined;
  readonly configuration?: Configuration | undefined;
  /** Where keys and addresses of providers are read; `process.env` where absent. */
  readonly environment?: Environment | undefined;
  /** How often an embedded store is copied to its backups; 0 = never. */
  readonly backupEveryMs?: number | undefined;
  /** Hears warnings of workers; nothing is printed where absent. */
  readonly log?: Log | undefined;
};

/** Opens a store, and makes it where there is none yet. */
export async function openDialectic(options: DialecticOptions = {}): Promise<Dialectic> {
  const { environment = process.env, configuration = {}, backupEveryMs, log = () => {} } = options;
  const models = readModelsConfig(environment, configuration);
  const jobs = readJobSettings(configuration);
  const retentionDays = readRetentionDays(configuration);
  const database = await openDatabase(
    locate(options, environment),
    backupEveryMs === undefined ? {} : { backupEveryMs },
  );
  try {
    const { tenantId } = await ensureLocalTenant(database);
    return new Dialectic({ database, tenantId, models, jobs, retentionDays, log });
  } catch (error) {
    await database.close();
    throw error;
  }
}

function locate(
  { dataDirectory, databaseUrl }: DialecticOptions,
  environment: Environment,
): StoreLocation {
  return databaseUrl && !dataDirectory ? { databaseUrl } : locateStore(environment, dataDirectory);
}
