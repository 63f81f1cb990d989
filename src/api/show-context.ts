import { findContextJobs } from '../handlers/find-context-jobs.ts';
import { type ContextPlan, planContext } from '../handlers/plan-context.ts';
import { readSession } from '../session/read.ts';
import type { Store } from './store.ts';

/** The plan of a job's next request, with the job and where it stands. */
export type JobContext = ContextPlan & { readonly job: string; readonly status: string };

/** What the requests of jobs are made of and what would be shortened; nothing is sent or stored. */
export async function showContext(
  { database, tenantId, models }: Pick<Store, 'database' | 'tenantId' | 'models'>,
  sessionId: string,
  wanted: string | undefined,
): Promise<JobContext[]> {
  const found = await database.asTenant(tenantId, async (tx) =>
    findContextJobs(tx, await readSession(tx, sessionId), wanted),
  );
  const plans: JobContext[] = [];
  for (const { job, status, isOver } of found) {
    const plan = await planContext({ database, config: models }, job, isOver);
    plans.push({ job: job.id, status, ...plan });
  }
  return plans;
}
