import { z } from 'zod';
import type { Database } from '../db/database.ts';
import { hashOf, saveBlob } from '../documents/blobs.ts';
import type { Assembly } from '../generation/assemble-request.ts';
import type { ChildJob, JobContext } from '../jobs/context.ts';
import { readPayload } from '../jobs/read-payload.ts';
import type { Job } from '../jobs/types.ts';
import type { Loss } from '../planning/types.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import type { CitationRecord } from '../session/citation-record.ts';
import { readSession } from '../session/read.ts';
import { sourceCache } from '../sources/source-cache.ts';
import { NO_COST, readChainCost } from './chain-cost.ts';
import { jobDocument } from './job-document.ts';
import { makePage, type PageSubject } from './make-page.ts';
import { readBody } from './read-body.ts';

type DocumentRow = {
  id: string;
  stage_key: string;
  step_key: string;
  document_key: string;
  iteration: number;
  version: number;
  lane_id: string;
  missing: Loss[];
  content: Record<string, unknown>;
  body_hash: string | null;
  citations: CitationRecord | null;
  is_computed: boolean;
};

const renderPayload = z.object({ identity: z.string() });

/** The RENDER job of a document whose page cannot be made when it is saved. */
export function renderJobs({ planned, step }: Pick<Assembly, 'planned' | 'step'>): ChildJob[] {
  if (step.output.template === null) return [];
  const { identity } = planned;
  const document = jobDocument(planned);
  return [{ type: 'RENDER', stepKey: step.key, document, payload: { identity } }];
}

/**
 * The RENDER job makes the page of a document that was saved without one: it cites sources which its
 * own job has added, or an earlier release wrote it.
 */
export async function render(database: Database, { job, commit }: JobContext): Promise<void> {
  const subject = await loadPage(database, job);
  const page = makePage(subject);
  const hash = hashOf(page);
  await commit({
    writeAtOnce: (tx) => {
      const update = 'update documents set markdown_hash = $2 where id = $1';
      return Promise.all([saveBlob(tx, page), tx.query(update, [subject.id, hash], 'save-page')]);
    },
  });
}

const loadPage = (database: Database, job: Job): Promise<PageSubject> =>
  database.asTenant(job.tenantId, async (tx) => {
    const { identity } = readPayload(renderPayload, job);
    const [session, row, { chainId }, sources] = await Promise.all([
      readSession(tx, job.sessionId),
      tx.queryOne<DocumentRow>(
        `select id, stage_key, step_key, document_key, iteration, version, lane_id, content,
           missing, body_hash, citations, exists (select from contributions c
             where c.id = contribution_id and c.finish_reason = 'computed') as is_computed
         from documents where session_id = $1 and identity = $2 and not superseded`,
        [job.sessionId, identity],
        'read-rendered',
      ),
      tx.queryOne<{ chainId: string }>('select chain_id as "chainId" from jobs where id = $1', [
        job.parentId,
      ]),
      sourceCache.read(tx, job.sessionId),
    ]);
    const cost = row.is_computed ? NO_COST : await readChainCost(tx, chainId);
    const { process } = session;
    const stage = stageOf(process, row.stage_key);
    const body = await readBody(tx, process, stage, stepOf(stage, row.step_key), row);
    const { id, iteration, version, missing, content, citations } = row;
    const made = { id, iteration, version, missing, content, citations };
    return {
      session,
      ...made,
      stage: row.stage_key,
      step: row.step_key,
      documentKey: row.document_key,
      laneId: row.lane_id,
      body,
      sources,
      cost,
    };
  });
