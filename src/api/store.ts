import type { Database } from '../db/database.ts';
import { DialecticError } from '../errors/errors.ts';
import type { SearchWeb } from '../handlers/handler-deps.ts';
import type { JobSettings } from '../jobs/settings.ts';
import type { ModelsConfig } from '../models/config.ts';
import type { Log } from '../platform/log.ts';
import type { Likeness } from '../sources/source-index.ts';

/** An open store, whose part of it is used, and what its runs are to be done with. */
export type Store = {
  readonly database: Database;
  readonly tenantId: string;
  readonly models: ModelsConfig;
  readonly jobs: JobSettings;
  /** After how many days unused projects expire; null or absent = never. */
  readonly retentionDays?: number | null;
  /** The search service of the configuration; absent where none is named. */
  readonly search?: SearchWeb | undefined;
  /** When sources are held to be one; absent = where they have the same text. */
  readonly likeness?: Likeness | undefined;
  /** Hears what workers have to say beside the events of a run. */
  readonly log: Log;
  /** Aborts when the store is about to be closed: what lasts must end. */
  readonly closing: AbortSignal;
};

/** A store as it was opened. */
export type OpenedStore = Omit<Store, 'closing'>;

/** Throws once the store is about to be closed, for what cannot go on without it. */
export function requireOpen({ closing }: Pick<Store, 'closing'>): void {
  if (!closing.aborted) return;
  throw new DialecticError('storage_closed', 'The store was closed while the work was under way.');
}
