import { examineStore as examineLocation, type Finding } from '../db/doctor.ts';
import { writePreparation } from '../db/prepare-database.ts';
import { type Restoration, restoreStore } from '../db/restore.ts';
import { DialecticError } from '../errors/errors.ts';
import { examinePerformance } from '../sources/performance.ts';
import { locate, type StoreOptions } from './open-dialectic.ts';

/** Looks a store over without changing anything, as far as it can be opened. */
export const examineStore = (options: StoreOptions = {}): Promise<readonly Finding[]> =>
  examineLocation(locate(options), examinePerformance);

/** What an administrator runs once in a server's database, so that its login needs no CREATEROLE. */
export const describePreparation = (options: StoreOptions = {}): string =>
  writePreparation(locate(options));

/** Puts the newest backup that opens in the place of an embedded store's database. */
export function restoreBackup(options: StoreOptions = {}): Promise<Restoration> {
  const location = locate(options);
  if ('dataDirectory' in location) return restoreStore(location.dataDirectory);
  throw new DialecticError(
    'usage_invalid',
    'Only an embedded store has backups of its own; use your server’s for DATABASE_URL.',
  );
}
