import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readNextVersion, saveContribution, saveDocument } from '../../src/documents/documents.ts';
import type { ExecutePayload } from '../../src/generation/chain.ts';
import { plan } from '../../src/handlers/create-handlers.ts';
import { resolveAwaited } from '../../src/handlers/resolve-awaited.ts';
import type { JobContext, JobHandler } from '../../src/jobs/context.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { untilRested, withWorker } from '../engine.ts';

export { shipped } from '../recipes/shipped.ts';

/** Writes a document that only says which it is; `content` may say more. */
export const writeTrivially =
  (content: (planned: PlannedJob) => unknown = () => ({})): JobHandler =>
  async ({ job, commit }: JobContext) => {
    const payload = job.payload as unknown as ExecutePayload;
    const text = JSON.stringify(await content(payload.planned));
    await commit({
      write: async (tx) => {
        const planned = await resolveAwaited(tx, job.sessionId, payload);
        const place = { tenantId: job.tenantId, sessionId: job.sessionId, jobId: job.id };
        const contributionId = await saveContribution(tx, {
          ...place,
          chainId: job.chainId,
          text,
          finishReason: 'stop',
        });
        const version = await readNextVersion(tx, place.sessionId, planned.identity);
        const texts = { content: JSON.parse(text), body: null, page: null };
        await saveDocument(tx, { ...place, planned, contributionId, version, ...texts });
      },
    });
  };

/** Runs sessions with a handler for EXECUTE until one has a status, or one of some; returns it. */
export async function runUntil(
  database: Database,
  place: { tenantId: string; sessionId: string },
  status: string | readonly string[],
  execute: JobHandler = writeTrivially(),
): Promise<string> {
  const handlers = { PLAN: (context: JobContext) => plan(database, context), EXECUTE: execute };
  const rested = await withWorker(
    database,
    handlers,
    (worker) => untilRested(worker, database, place),
    { concurrency: 20, pollMs: 200 },
  );
  expect(rested.status).toBeOneOf([status].flat());
  return rested.status;
}
