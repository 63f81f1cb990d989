import type { Database } from '../db/database.ts';
import { saveBlob } from '../documents/blobs.ts';
import { withFrontMatter } from '../documents/front-matter.ts';
import type { Assembly } from '../generation/assemble-request.ts';
import { renderDocument } from '../generation/render-document.ts';
import type { ChildJob, JobContext } from '../jobs/context.ts';
import type { Loss } from '../planning/types.ts';
import { describeMissing } from '../session/missing-text.ts';
import { readSession } from '../session/read.ts';
import { safeInline } from '../text/markdown-text.ts';

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
};

/** The RENDER job of a document, where the recipe renders it. */
export function renderJobs({ planned, step }: Pick<Assembly, 'planned' | 'step'>): ChildJob[] {
  if (step.output.template === null) return [];
  const { identity, documentKey } = planned;
  return [{ type: 'RENDER', stepKey: step.key, payload: { identity, documentKey } }];
}

/** RENDER jobs: the Markdown of a document, with the facts of its making before it. */
export async function render(database: Database, { job, commit }: JobContext): Promise<void> {
  const { sessionId } = job;
  const identity = job.payload['identity'] as string;
  const { session, row, usage } = await database.asTenant(job.tenantId, async (tx) => {
    const [row] = await tx.query<DocumentRow>(
      `select id, stage_key, step_key, document_key, iteration, version, lane_id,
           content, missing
         from documents where session_id = $1 and identity = $2
           and not superseded`,
      [sessionId, identity],
    );
    const [usage] = await tx.query<{
      calls: number;
      input: number;
      output: number;
      cost: number;
    }>(
      `select count(*) as calls, sum(input_tokens)::float8 as input,
           sum(output_tokens)::float8 as output, sum(cost_micros)::float8 as cost
         from model_calls c join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
         where j.chain_id = (select chain_id from jobs where id = $1)`,
      [job.parentId],
    );
    return { session: await readSession(tx, sessionId), row: row!, usage: usage! };
  });
  const stage = session.process.stages.find((one) => one.key === row.stage_key)!;
  const step = stage.steps.find((one) => one.key === row.step_key)!;
  const lane = session.lanes.find((one) => one.id === row.lane_id)!;
  const markdown = renderDocument(session.process, stage, step, row.content);
  // Six lines that a reader can bear; the JSON beside the file has the rest.
  const facts = {
    document: `${row.stage_key}/${row.document_key}`,
    participant: `${lane.ordinal} ${lane.model}`,
    version: `pass ${row.iteration}, version ${row.version}`,
    cost: usage.cost === null ? 'unknown' : `$${(usage.cost / 1e6).toFixed(4)}`,
    id: row.id,
    ...(row.missing.length > 0 && { degraded: true }),
  };
  const text = withFrontMatter(
    facts,
    withGaps(describeMissing(session, row.missing).map(safeInline), markdown),
  );
  await commit({
    write: async (tx) => {
      const blob = await saveBlob(tx, text);
      await tx.query('update documents set markdown_hash = $2 where id = $1', [row.id, blob]);
    },
  });
}

/** A degraded document says so in its first line, before its title. */
const withGaps = (gaps: readonly string[], markdown: string): string =>
  gaps.length === 0
    ? markdown
    : `> **Degraded: written without the following.** ${gaps.join('. ')}.\n\n${markdown}`;
