import type { TenantQueries } from '../db/transaction.ts';
import { readSources } from '../documents/documents.ts';
import type { SourceDocument } from '../planning/types.ts';
import { type Losses, readFailedJobs, readLosses } from './losses.ts';
import { type Pass, readSession, type SessionView } from './read.ts';
import { readStageLanes } from './stages.ts';

/** What the planning of a lane knows of its session. */
export type PlanningView = Losses & {
  readonly session: SessionView;
  readonly stageLanes: Readonly<Record<string, readonly string[]>>;
  readonly documents: readonly SourceDocument[];
  readonly labelSeed: string;
};

/** Its statements are given before one of them is awaited; where something failed, more follow. */
export async function readPlanningView(tx: TenantQueries, pass: Pass): Promise<PlanningView> {
  const [session, documents, stageLanes, labelSeed, failed] = await Promise.all([
    readSession(tx, pass.id),
    readSources(tx, pass.id),
    readStageLanes(tx, pass),
    readLabelSeed(tx, pass.id),
    readFailedJobs(tx, pass),
  ]);
  const losses = await readLosses(tx, session, stageLanes, failed);
  return { session, documents, stageLanes, labelSeed, ...losses };
}

/** The brief's hash: labels on ballots are the same in every run of one brief. */
async function readLabelSeed(tx: TenantQueries, sessionId: string): Promise<string> {
  const { seed } = await tx.queryOne<{ seed: string }>(
    `select p.brief_hash as seed from sessions s
     join projects p on p.tenant_id = s.tenant_id and p.id = s.project_id where s.id = $1`,
    [sessionId],
    'read-label-seed',
  );
  return seed;
}
