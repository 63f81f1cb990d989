import type { TenantQueries } from '../db/transaction.ts';
import type { ExecutePayload } from '../generation/chain.ts';
import type { PlannedJob } from '../planning/types.ts';

type Row = { identity: string; id: string; contribution: string | null };

/** The plan of a job, with the documents that were awaited in the places of their stand-ins. */
export async function resolveAwaited(
  tx: TenantQueries,
  sessionId: string,
  { planned, awaits = [] }: ExecutePayload,
): Promise<PlannedJob> {
  // Jobs of an earlier release wait for one document, which is not in a list.
  const awaited = [awaits].flat();
  if (awaited.length === 0) return planned;
  const rows = await tx.query<Row>(
    `select identity, id, contribution_id as contribution from documents
     where session_id = $1 and identity = any ($2) and not superseded`,
    [sessionId, awaited.map(({ identity }) => identity)],
    'resolve-awaited',
  );
  let text = JSON.stringify(planned);
  for (const { identity, documentId, contributionId } of awaited) {
    // Its job has ended well, or this one would not run.
    const { id, contribution } = rows.find((row) => row.identity === identity)!;
    text = text.replaceAll(documentId, id);
    // Only a document that was given has none, and no job makes such a one.
    if (contribution !== null && contributionId !== '') {
      text = text.replaceAll(contributionId, contribution);
    }
  }
  return JSON.parse(text) as PlannedJob;
}
