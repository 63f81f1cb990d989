import type { TenantQueries } from '../db/transaction.ts';
import type { ExecutePayload } from '../generation/chain.ts';
import type { PlannedJob } from '../planning/types.ts';

/** The plan of a job, with the document that its prerequisite made in the place of its stand-in. */
export async function resolveAwaited(
  tx: TenantQueries,
  sessionId: string,
  { planned, awaits }: Required<Pick<ExecutePayload, 'planned' | 'awaits'>>,
): Promise<PlannedJob> {
  const { id, contribution } = await tx.queryOne<{ id: string; contribution: string | null }>(
    `select id, contribution_id as contribution from documents
     where session_id = $1 and identity = $2 and not superseded`,
    [sessionId, awaits.identity],
  );
  const text = JSON.stringify(planned)
    .replaceAll(awaits.documentId, id)
    // Only a document that was given has none, and no job makes such a one.
    .replaceAll(awaits.contributionId, contribution ?? awaits.contributionId);
  return JSON.parse(text) as PlannedJob;
}
