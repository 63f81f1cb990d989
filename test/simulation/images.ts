import type { Database } from '../../src/db/database.ts';
import type { World } from './world.ts';

/** Everything that the rules are about, one line for each row, in an order that both sides have. */
export function modelImage(world: World, stageRuns: ReadonlyMap<string, string>): string[] {
  const jobs = [...world.jobs.values()].map((job) =>
    JSON.stringify([
      job.id,
      job.status,
      job.continued,
      job.degraded,
      job.attempt,
      job.takeovers,
      job.runAfter,
      job.error,
      job.progress,
      job.status === 'processing' ? [job.worker, job.leaseUntil] : null,
      job.policy,
    ]),
  );
  const runs = [...world.stageRuns].flatMap(([id, run]) => [
    JSON.stringify([stageRuns.get(id), run.state, run.version, run.degraded]),
    ...[...run.steps].map(([name, { state, degraded }]) =>
      JSON.stringify([stageRuns.get(id), ...name.split('/'), state, degraded]),
    ),
  ]);
  const session = JSON.stringify(['session', world.status, [...world.gates].toSorted()]);
  return [session, ...jobs, ...runs.toSorted()];
}

type Row = { session: unknown; jobs: unknown[]; runs: unknown[] };

/** The same of the database, in one round trip. */
export async function databaseImage(database: Database, sessionId: string): Promise<string[]> {
  const [row] = await database.immediate<Row>(
    { as: 'worker' },
    `select
      (select jsonb_build_array('session', status, to_jsonb(gates)) from sessions
        where id = '${sessionId}') as session,
      (select coalesce(jsonb_agg(jsonb_build_array(id, status, continued, degraded, attempt,
          takeovers, round(extract(epoch from run_after) * 1000), error->>'code',
          payload->'progress', case when status = 'processing' then jsonb_build_array(worker_id,
            round(extract(epoch from lease_until) * 1000)) end, dependency_policy) order by seq), '[]')
        from jobs where session_id = '${sessionId}') as jobs,
      (select coalesce(jsonb_agg(line), '[]') from (
        select jsonb_build_array(r.id, r.state, r.version, r.degraded) as line from stage_runs r
        where r.session_id = '${sessionId}'
        union all
        select jsonb_build_array(r.id, l.lane_id, l.step_key, l.state, l.degraded)
        from stage_runs r join lane_steps l on l.tenant_id = r.tenant_id and l.stage_run_id = r.id
        where r.session_id = '${sessionId}') as lines) as runs`,
  );
  const text = (line: unknown): string => JSON.stringify(line);
  return [text(row!.session), ...row!.jobs.map(text), ...row!.runs.map(text).toSorted()];
}
