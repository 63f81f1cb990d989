import type { Database } from '../db/database.ts';
import type { JobSettings } from '../jobs/settings.ts';
import type { ModelsConfig } from '../models/config.ts';
import type { Log } from '../platform/log.ts';

/** An open store, whose part of it is used, and what its runs are to be done with. */
export type Store = {
  readonly database: Database;
  readonly tenantId: string;
  readonly models: ModelsConfig;
  readonly jobs: JobSettings;
  /** Hears what workers have to say beside the events of a run. */
  readonly log: Log;
};
