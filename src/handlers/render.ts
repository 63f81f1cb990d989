import type { Database, Transaction } from '../db/database.ts';
import { hashOf, saveBlob } from '../documents/blobs.ts';
import { withFrontMatter } from '../documents/front-matter.ts';
import type { Assembly } from '../generation/assemble-request.ts';
import { isFilled } from '../generation/fill-fields.ts';
import { renderDocument } from '../generation/render-document.ts';
import type { ChildJob, JobContext } from '../jobs/context.ts';
import type { Job } from '../jobs/types.ts';
import type { Loss } from '../planning/types.ts';
import { requireContract } from '../recipe/contract.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import { type CitationRecord, citationFacts, warnOfFaults } from '../session/citation-record.ts';
import { describeMissing } from '../session/missing-text.ts';
import { laneOf, readSession, type SessionView } from '../session/read.ts';
import { formatFootnotes } from '../sources/footnotes.ts';
import { readSessionSources } from '../sources/project-sources.ts';
import { safeInline } from '../text/markdown-text.ts';
import { jobDocument } from './job-document.ts';
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
};

/** The RENDER job of a document, where the recipe renders it. */
export function renderJobs({ planned, step }: Pick<Assembly, 'planned' | 'step'>): ChildJob[] {
  if (step.output.template === null) return [];
  const { identity } = planned;
  const document = jobDocument(planned);
  return [{ type: 'RENDER', stepKey: step.key, document, payload: { identity } }];
}

/** The RENDER job: the page of a document, its Markdown behind the facts of its making. */
export async function render(database: Database, { job, commit }: JobContext): Promise<void> {
  const { session, row, usage, markdown, sources } = await loadPage(database, job);
  const lane = laneOf(session, row.lane_id);
  // Six lines that a reader can bear; the JSON beside the file has the rest.
  const facts = {
    document: `${row.stage_key}/${row.document_key}`,
    participant: `${lane.ordinal} ${lane.model}`,
    version: `pass ${row.iteration}, version ${row.version}`,
    cost: describeCost(usage),
    id: row.id,
    ...(row.missing.length > 0 && { degraded: true }),
    ...citationFacts(row.citations),
  };
  const gaps = describeMissing(session, row.missing).map(safeInline);
  const cited =
    sources.size === 0 ? markdown : formatFootnotes(markdown, sources.find, sources.standing);
  const warned = `${warnOfFaults(row.citations)}${withGaps(gaps, cited)}`;
  const page = withFrontMatter(facts, warned);
  await commit({
    writeAtOnce: (tx) => {
      const update = 'update documents set markdown_hash = $2 where id = $1';
      return Promise.all([
        saveBlob(tx, page),
        tx.query(update, [row.id, hashOf(page)], 'save-page'),
      ]);
    },
  });
}

/** Micro-USD: now, and of replayed answers then; null where it is unknown. */
type Cost = {
  readonly cost: number | null;
  readonly recorded: number | null;
  readonly isReplayed: boolean;
};

const dollars = (micros: number | null): string =>
  micros === null ? 'unknown' : `$${(micros / 1e6).toFixed(4)}`;

function describeCost({ cost, recorded, isReplayed }: Cost): string {
  if (isReplayed) return `${dollars(recorded)} in the recorded run, nothing in this one`;
  return dollars(cost);
}

const loadPage = (database: Database, job: Job) =>
  database.asTenant(job.tenantId, async (tx) => {
    const opened = readSession(tx, job.sessionId);
    const found = tx.queryOne<DocumentRow>(
      `select id, stage_key, step_key, document_key, iteration, version, lane_id, content, missing,
         body_hash, citations
       from documents where session_id = $1 and identity = $2 and not superseded`,
      [job.sessionId, job.payload['identity']],
      'read-rendered',
    );
    const spent = tx.queryOne<Cost>(
      `select sum(cost_micros)::float8 as cost,
         case when bool_and(origin <> 'recording' or recorded_cost_micros is not null)
           then sum(recorded_cost_micros)::float8 end as recorded,
         coalesce(bool_or(origin = 'recording'), false) as "isReplayed"
       from model_calls where job_id = any ((
         select f.chain_id || array(
           select l.id from jobs l where l.chain_id = f.chain_id and l.chain_id <> l.id)
         from jobs f where f.id = $1)::uuid[])`,
      [job.parentId],
      'read-chain-cost',
    );
    const cited = readSessionSources(tx, job.sessionId);
    const [session, row, usage, sources] = await Promise.all([opened, found, spent, cited]);
    const markdown = await showToPeople(tx, session, row);
    return { session, row, usage, markdown, sources };
  });

/** The stored body; only people see what code filled in, so that such a document is rendered anew. */
async function showToPeople(tx: Transaction, { process }: SessionView, row: DocumentRow) {
  const stage = stageOf(process, row.stage_key);
  const step = stepOf(stage, row.step_key);
  return isFilled(requireContract(stage, step), row.content)
    ? renderDocument(process, stage, step, row.content)
    : readBody(tx, process, stage, step, row);
}

/** A degraded document says so in its first line, before its title. */
const withGaps = (gaps: readonly string[], markdown: string): string =>
  gaps.length === 0
    ? markdown
    : `> **Degraded: written without the following.** ${gaps.join('. ')}.\n\n${markdown}`;
