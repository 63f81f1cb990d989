import { DialecticError } from '../errors/errors.ts';
import { eraseProject } from '../session/erase-project.ts';
import { type ProjectInfo, readProject, readUnusedProjects } from '../session/project-info.ts';
import { readRetentionDays } from '../session/retention-settings.ts';
import { settleLeftHolds } from '../wallet/holds.ts';
import { type Plain, toPlain } from './plain.ts';
import type { Store } from './store.ts';

/** What is gone with a project: sessions, versions of documents, bytes of text. */
export type DeletedProject = {
  readonly project: string;
  readonly name: string;
  readonly sessions: number;
  readonly documents: number;
  /** Of texts that no other project holds. */
  readonly bytes: number;
};

/** Erases a project, after the holds are settled that dead processes left for its calls. */
export async function deleteProject(
  { database, tenantId }: Store,
  wanted: string,
): Promise<DeletedProject> {
  // In a transaction of its own: settling locks accounts, which come before calls in the lock order.
  const { id, name } = await database.asTenant(tenantId, async (tx) => {
    await settleLeftHolds(tx);
    return readProject(tx, wanted);
  });
  const erased = await database.asTenant(tenantId, (tx) => eraseProject(tx, id));
  return { project: id, name, ...erased };
}

export type ExpireOptions = {
  /** How long a project may be unused; the configuration's `retention.days` where absent. */
  readonly days?: number | undefined;
  /** Only tells what would be deleted. */
  readonly dryRun?: boolean | undefined;
};

/** What became of the projects that were unused for the set time. */
export type Expiry = {
  readonly days: number;
  /** Those to delete, the longest unused first. */
  readonly expired: readonly Plain<ProjectInfo>[];
  /** Those that were deleted; none in a dry run. */
  readonly deleted: readonly DeletedProject[];
  /** Those that stay since a session of theirs runs, is paused or was used in the meantime. */
  readonly kept: readonly Plain<ProjectInfo>[];
};

/** Deletes the projects that were not used for a number of days. */
export async function expireProjects(store: Store, options: ExpireOptions): Promise<Expiry> {
  const { database, tenantId, retentionDays = null } = store;
  const given = options.days === undefined ? null : { retention: { days: options.days } };
  const days = readRetentionDays(given) ?? retentionDays;
  if (days === null) throw noRetention();
  const old = await database.asTenant(tenantId, async (tx) => {
    await settleLeftHolds(tx);
    return readUnusedProjects(tx, days);
  });
  const [kept, expired] = [old.filter(isRunning), old.filter((project) => !isRunning(project))];
  const deleted: DeletedProject[] = [];
  for (const project of options.dryRun ? [] : expired) {
    const erased = await eraseUnused(store, project.id, days);
    if (erased) deleted.push({ project: project.id, name: project.name, ...erased });
    else kept.push(project);
  }
  return toPlain({ days, expired, deleted, kept });
}

/** Erases a project unless somebody has used it since the list was read. */
async function eraseUnused({ database, tenantId }: Store, id: string, days: number) {
  try {
    return await database.asTenant(tenantId, async (tx) => {
      const unused = await readUnusedProjects(tx, days);
      return unused.some((project) => project.id === id) ? await eraseProject(tx, id) : null;
    });
  } catch (error) {
    if (error instanceof DialecticError && error.code === 'session_running') return null;
    throw error;
  }
}

const isRunning = ({ running }: ProjectInfo): boolean => running > 0;

const noRetention = (): DialecticError =>
  new DialecticError(
    'usage_invalid',
    'No retention is set, so projects are kept for ever. Set after how many days unused ones are ' +
      'deleted, in dialectic.config.yaml: retention: { days: 365 }',
  );
