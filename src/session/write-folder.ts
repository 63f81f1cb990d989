import type { Database } from '../db/database.ts';
import { writeOwned } from '../documents/owned-folder.ts';
import { exportSession } from './export.ts';
import { readSession } from './read.ts';
import { type RunResult, summarise } from './summary.ts';

/**
 * Sums a session up and, where a folder is named, writes there what it has made so far; files of an
 * earlier export are replaced, and taken away if gone.
 */
export async function writeFolder(
  database: Database,
  tenantId: string,
  sessionId: string,
  out: string | undefined,
): Promise<RunResult> {
  const { files, result, projectId } = await database.asTenant(tenantId, async (tx) => {
    const session = await readSession(tx, sessionId);
    const exported = await exportSession(tx, session);
    const summary = await summarise(tx, session, exported, out);
    return { files: exported.files, result: summary, projectId: session.projectId };
  });
  if (out) await writeOwned(out, projectId, files);
  return result;
}
