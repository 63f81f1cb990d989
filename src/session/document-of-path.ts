import type { Transaction } from '../db/transaction.ts';
import { exportSession } from './export.ts';
import { readSession } from './read.ts';

/**
 * The id of a document that is named by its file, within the folder or from anywhere outside; any other
 * name is returned as it is. Only what ends like a file costs an export.
 */
export async function toDocumentId(
  tx: Transaction,
  sessionId: string,
  wanted: string,
): Promise<string> {
  if (!/\.(?:md|json)$/i.test(wanted)) return wanted;
  const path = wanted.replaceAll('\\', '/');
  const isAt = (own: string | null): boolean =>
    own !== null && (path === own || path.endsWith(`/${own}`));
  const { documents } = await exportSession(tx, await readSession(tx, sessionId));
  const found = documents.find((one) => isAt(one.path) || isAt(one.dataPath));
  return found?.id ?? wanted;
}
