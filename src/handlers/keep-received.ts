import type { Database } from '../db/database.ts';
import { saveContribution } from '../documents/documents.ts';
import type { Job } from '../jobs/types.ts';
import type { Answered } from './call.ts';
import { endCall, lockCall } from './end-call.ts';

/**
 * Saves and pays what a call had brought when its session was cancelled. Cancelling took the job's
 * lease, so the turn itself could not be committed. A job that another worker took over is left
 * alone: that worker settles the call from its checkpoints.
 */
export async function keepReceived(
  database: Database,
  job: Job,
  answered: Answered,
): Promise<void> {
  const { sessionId, id: jobId, chainId } = job;
  const { callId, answer } = answered;
  const { text, finishReason } = answer;
  await database.asTenant(job.tenantId, async (tx) => {
    await lockCall(tx, callId);
    const [call] = await tx.query<{ status: string }>(
      `select c.status from model_calls c
       join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
       where c.id = $1 and c.contribution_id is null
         and j.status = 'cancelled'`,
      [callId],
    );
    if (!call) return;
    const chunk = { sessionId, jobId, chainId, text, finishReason };
    const contributionId = await saveContribution(tx, chunk);
    if (call.status === 'sent') return endCall(tx, answered, contributionId);
    // Another session was short of money and had the hold settled from the checkpoints: it is paid.
    await tx.query('update model_calls set contribution_id = $2 where id = $1', [
      callId,
      contributionId,
    ]);
  });
}
