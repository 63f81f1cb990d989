import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import type { JobStatus } from '../jobs/transitions.ts';
import { type Job, type JobRow, toJob } from '../jobs/types.ts';
import { namesOf, shortId } from '../session/name-document.ts';
import type { SessionView } from '../session/read.ts';
import { simplifyName } from '../text/simplify-name.ts';

/** A job that asks a model, with where it stands. */
export type ContextJob = {
  readonly job: Job;
  readonly status: JobStatus;
  readonly isOver: boolean;
};

type Row = JobRow & {
  readonly stage: string;
  readonly key: string;
  readonly lane: number;
  readonly is_over: boolean;
};

/**
 * The jobs of a session's pass that ask a model for a document: those that a name or the end of an id
 * means, else those that have not ended. Of a chain that is over it is the first link.
 */
export async function findContextJobs(
  tx: Transaction,
  session: SessionView,
  wanted: string | undefined,
): Promise<ContextJob[]> {
  const rows = (await readRows(tx, session)).filter(({ stage, step_key }) =>
    session.process.stages
      .find(({ key }) => key === stage)
      ?.steps.some(({ key, compute }) => key === step_key && compute === null),
  );
  const found = rows.filter((row) =>
    wanted === undefined ? !row.is_over : isMeant(session, row, wanted),
  );
  if (wanted !== undefined && found.length === 0) throw unknown(rows, wanted);
  return found.map((row) => ({ job: toJob(row), status: row.status, isOver: row.is_over }));
}

function isMeant(session: SessionView, row: Row, wanted: string): boolean {
  if (wanted.length >= 4 && row.id.endsWith(wanted.toLowerCase())) return true;
  return namesOf(session, row).includes(simplifyName(wanted));
}

function unknown(rows: readonly Row[], wanted: string): DialecticError {
  const lines = rows.map(({ id, stage, key, lane }) => `  ${shortId(id)}  ${stage}/${key}@${lane}`);
  const known = lines.length > 0 ? `It has:\n${lines.join('\n')}` : 'It has planned none yet.';
  return new DialecticError('not_found', `No job of the session is called ${wanted}. ${known}`);
}

const readRows = (tx: Transaction, { id, iteration }: SessionView): Promise<Row[]> =>
  tx.query<Row>(
    `select j.tenant_id, j.id, j.session_id, j.stage_run_id, j.lane_id, j.step_key, j.job_type,
       j.role, j.status, j.parent_job_id, j.chain_id, j.dependency_policy, j.quorum,
       j.concurrency_key, j.attempt, j.max_attempts, j.takeovers, j.degraded, j.payload,
       j.lease_token, r.stage_key as stage, j.document_key as key, l.ordinal as lane,
       is_over(j.status) as is_over
     from jobs j
     join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
     join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
     where j.session_id = $1 and r.iteration = $2 and j.job_type = 'EXECUTE'
       and (j.prerequisite_job_id is null or exists (
         select from jobs p where p.tenant_id = j.tenant_id and p.chain_id = j.prerequisite_job_id
           and not p.continued and p.status in ('completed', 'superseded')))
       and (not is_over(j.status) or j.id = j.chain_id and not exists (
         select from jobs n where n.tenant_id = j.tenant_id and n.chain_id = j.chain_id
           and not is_over(n.status)))
     order by j.seq`,
    [id, iteration],
  );
