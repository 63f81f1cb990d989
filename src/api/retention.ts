import { eraseProject } from '../session/erase-project.ts';
import { readProject } from '../session/project-info.ts';
import { settleLeftHolds } from '../wallet/holds.ts';
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
