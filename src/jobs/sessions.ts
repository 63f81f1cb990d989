import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';
import { JOBS_CHANNEL } from './enqueue.ts';

/** Why a session rests. Claims respect it; the rows of its jobs stay as they are. */
export type Gate = 'user' | 'funds' | 'budget' | 'approval' | 'storage';

export type NewSession = {
  readonly id?: string;
  /** How many of its jobs may run at once; null = no limit of its own. */
  readonly maxRunning?: number | null;
};

export async function createSession(tx: Transaction, session: NewSession = {}): Promise<string> {
  const id = session.id ?? newId();
  await tx.query('insert into sessions (tenant_id, id, max_running) values ($1, $2, $3)', [
    tx.tenantId,
    id,
    session.maxRunning ?? null,
  ]);
  return id;
}

/** Closes a gate: nothing more of the session starts; what runs finishes and is saved. */
export async function addGate(tx: Transaction, sessionId: string, gate: Gate) {
  const rows = await tx.query(
    `update sessions set gates = array(select distinct unnest(gates || $2::text) order by 1)
     where id = $1 returning id`,
    [sessionId, gate],
  );
  if (rows.length === 0) throw noSession(sessionId);
}

/** Opens one gate, or all where none is named, and tells the workers. */
export async function removeGate(tx: Transaction, sessionId: string, gate?: Gate): Promise<void> {
  const rows = await tx.query(
    `update sessions set gates = case when $2::text is null then '{}'
       else array_remove(gates, $2) end
     where id = $1 returning id`,
    [sessionId, gate ?? null],
  );
  if (rows.length === 0) throw noSession(sessionId);
  await tellWorkers(tx);
}

/** Ends a session: what lives is cancelled, and workers stop what runs. */
export async function cancelSession(tx: Transaction, sessionId: string) {
  const rows = await tx.query(
    `update sessions set status = 'cancelled', gates = '{}' where id = $1
       and status in ('draft', 'running', 'awaiting_review') returning id`,
    [sessionId],
  );
  if (rows.length === 0) throw noSession(sessionId);
  await tx.query('select cancel_jobs($1, $2)', [tx.tenantId, sessionId]);
  await tellWorkers(tx, 'cancelled');
}

/** Hints at work, or at jobs that should stop. */
async function tellWorkers(tx: Transaction, what = ''): Promise<void> {
  await tx.query('select pg_notify($1, $2)', [JOBS_CHANNEL, what]);
}

/**
 * Brings everything of a session back that failed, or that ended because something else failed,
 * in stages that are not closed; what succeeded stays. Returns how many jobs go again.
 */
export async function retrySession(tx: Transaction, sessionId: string) {
  const session = [sessionId];
  const open = await tx.query(
    `select 1 from sessions where id = $1 and status in ('running', 'failed')`,
    session,
  );
  if (open.length === 0) throw noSession(sessionId);
  await lockForRetry(tx, session);
  await tx.query(
    `delete from lane_steps l using stage_runs r
     where r.session_id = $1 and l.step_key = '*' and not ${isClosed('r.id')}
       and l.tenant_id = r.tenant_id and l.stage_run_id = r.id`,
    session,
  );
  await tx.query(
    `update lane_steps l set state = 'running', degraded = false
     from stage_runs r where r.session_id = $1 and l.state = 'failed'
       and not ${isClosed('r.id')} and l.tenant_id = r.tenant_id and l.stage_run_id = r.id`,
    session,
  );
  const rows = await tx.query(RETRY, session);
  // What it waited for has ended since, so that nothing else will say that the step begins.
  await tx.query(
    `update lane_steps l set state = 'running' from jobs j
     where j.session_id = $1 and j.status = 'pending' and l.state = 'waiting'
       and l.tenant_id = j.tenant_id and l.stage_run_id = j.stage_run_id
       and l.lane_id = j.lane_id and l.step_key = j.step_key`,
    session,
  );
  // A stage whose lanes are all through has nothing that would ever end it again.
  await tx.query(
    `update stage_runs r set state = 'running', degraded = false, finished_at = null
     where r.session_id = $1 and exists (
       select from jobs j where j.tenant_id = r.tenant_id and j.stage_run_id = r.id
         and j.role = 'lane' and not is_over(j.status))`,
    session,
  );
  await tx.query(
    `update sessions set status = 'running' where id = $1 and status = 'failed'`,
    session,
  );
  if (rows.length > 0) await tellWorkers(tx);
  return rows.length;
}

/**
 * SQL: a stage whose own job is done was left behind, with whatever failed in it. One that was opened
 * again for another lane has a second such job.
 */
function isClosed(stageRunId: string): string {
  return `exists (select from jobs s where s.stage_run_id = ${stageRunId}
    and s.role = 'stage' having bool_and(s.status in ('completed', 'superseded')))`;
}

/** What did not come about, be it because something else did not. */
const IS_LOST = `not j.continued and (j.status = 'failed' or j.cancel_reason = 'parent_ended')`;

/**
 * Documents of a closed stage would come too late for those that were written without them; what waits
 * for such a one, by however many prerequisites, would wait for ever.
 */
const GOES_AGAIN = `j.session_id = $1 and ${IS_LOST} and j.id not in (
  with recursive given_up as (
    select j.id, j.chain_id from jobs j
    where j.session_id = $1 and ${IS_LOST} and j.counts and ${isClosed('j.stage_run_id')}
    union
    select j.id, j.chain_id from given_up g
    join jobs j on j.session_id = $1 and j.prerequisite_job_id = g.chain_id where ${IS_LOST})
  select id from given_up)`;

/**
 * What still runs may end at this moment. With these locks, taken in the lock order of a completing
 * worker, it ends wholly before the retry, which then sees it, or wholly after, and then wakes. The row
 * of a job that runs in a stage is not locked: its worker holds it while it waits for the stage run.
 */
async function lockForRetry(tx: Transaction, session: readonly string[]): Promise<void> {
  await tx.query(
    `select 1 from stage_runs where session_id = $1
     order by id for no key update`,
    session,
  );
  await tx.query(
    `select 1 from jobs k where k.id in (
       select unnest(array[j.id, j.prerequisite_job_id]) from jobs j where ${GOES_AGAIN})
       and (k.stage_run_id is null or is_over(k.status) and not k.continued)
     order by k.seq desc for update`,
    session,
  );
}

/** One statement, so that no trigger ever sees a parent that waits for children still failed. */
const RETRY = `
  update jobs j set attempt = 0, takeovers = 0, error = null, cancel_reason = null,
    finished_at = null, degraded = false, run_after = app_now(),
    status = case
      when j.prerequisite_job_id is not null and not exists (
        select from jobs p where p.tenant_id = j.tenant_id and p.chain_id = j.prerequisite_job_id
          and not p.continued and p.status in ('completed', 'superseded'))
        then 'waiting_for_prerequisite'
      when exists (select from jobs c where c.tenant_id = j.tenant_id and c.parent_job_id = j.id
        and c.counts and not c.continued and c.status not in ('completed', 'superseded'))
        then 'waiting_for_children'
      else 'pending' end
  where ${GOES_AGAIN}
  returning 1`;

function noSession(id: string): DialecticError {
  return new DialecticError('not_found', `No such session, or it is over: ${id}`);
}
