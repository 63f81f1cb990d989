import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { isErrorCode } from '../../src/errors/errors.ts';
import { createStageRun } from '../../src/jobs/lanes.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import { TRANSITIONS } from '../../src/jobs/transitions.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('the row of a job', (kind) => {
  let database: Database;
  let tenantId: string;
  let run: Bench;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
    run = await Bench.open(database, tenantId);
  });

  /** Inserts a row past the engine, as a faulty program would. */
  const insert = (columns: Record<string, unknown>) =>
    database.asTenant(tenantId, (tx) => {
      const id = newId();
      const row = { tenant_id: tenantId, id, chain_id: id, session_id: run.sessionId, ...columns };
      const names = Object.keys(row);
      const places = names.map((_, n) => `$${n + 1}`).join();
      return tx.query(`insert into jobs (${names.join()}) values (${places})`, Object.values(row));
    });
  const newStageRun = () =>
    database.asTenant(tenantId, (tx) =>
      createStageRun(tx, {
        sessionId: run.sessionId,
        iteration: 1,
        stageKey: randomUUID(),
      }),
    );
  const refusedBy = (constraint: string) => ({ code: 'conflict', details: { constraint } });

  test('takes the known statuses and no other', async () => {
    for (const status of Object.keys(TRANSITIONS)) {
      const cancel_reason = status === 'cancelled' ? 'session_cancelled' : null;
      await insert({ job_type: 'EXECUTE', status, cancel_reason });
    }
    const banana = insert({ job_type: 'EXECUTE', status: 'banana' });
    await expect(banana).rejects.toMatchObject(refusedBy('jobs_status_known'));
    const dance = insert({ job_type: 'DANCE' });
    await expect(dance).rejects.toMatchObject(refusedBy('jobs_job_type_check'));
  });

  test('has a role that fits its stage run, lane and step', async () => {
    const stage_run_id = await newStageRun();
    const lane_id = randomUUID();
    const plan = { job_type: 'PLAN', stage_run_id };
    await insert({ ...plan, role: 'stage' });
    await insert({ ...plan, role: 'lane', lane_id });
    await insert({ job_type: 'EXECUTE', role: 'step', stage_run_id, lane_id, step_key: 'write' });
    const misfits = [
      { ...plan, role: 'stage', lane_id },
      { ...plan, role: 'lane' },
      { ...plan, role: 'lane', lane_id, step_key: 'write' },
      { job_type: 'EXECUTE', role: 'lane', stage_run_id, lane_id },
      { job_type: 'EXECUTE', role: 'step', stage_run_id, lane_id },
    ];
    for (const row of misfits) {
      const misfit = insert(row);
      await expect(misfit, JSON.stringify(row)).rejects.toMatchObject(refusedBy('jobs_role_fits'));
    }
  });

  test('says why it was cancelled, and only while it is', async () => {
    const cancelled = insert({ job_type: 'EXECUTE', status: 'cancelled' });
    await expect(cancelled).rejects.toMatchObject(refusedBy('jobs_cancel_reason_given'));
    const alive = insert({ job_type: 'EXECUTE', cancel_reason: 'parent_ended' });
    await expect(alive).rejects.toMatchObject(refusedBy('jobs_cancel_reason_given'));
    const why = insert({ job_type: 'EXECUTE', status: 'cancelled', cancel_reason: 'boredom' });
    await expect(why).rejects.toMatchObject(refusedBy('jobs_cancel_reason_check'));
  });

  test('that was cancelled with its parent comes back without the reason', async () => {
    const own = await Bench.open(database, tenantId);
    const [parentId] = await own.enqueue(named('parent', { type: 'PLAN', maxAttempts: 1 }));
    await own.enqueue(named('child', { parentId: parentId!, prerequisiteId: null }));
    const reasons = () =>
      database.asTenant(tenantId, (tx) =>
        tx.query(
          `select payload->>'name' as name, cancel_reason from jobs
           where session_id = $1 order by seq`,
          [own.sessionId],
        ),
      );
    const PLAN = async () => {
      throw new Error('no plan');
    };
    await withWorker(
      database,
      { PLAN },
      () => own.settled({ parent: 'failed', child: 'cancelled' }),
      {
        session: own,
        concurrency: 1,
      },
    );
    expect(await reasons()).toEqual([
      { name: 'parent', cancel_reason: null },
      { name: 'child', cancel_reason: 'parent_ended' },
    ]);
    await database.asTenant(tenantId, (tx) => retrySession(tx, own.sessionId));
    expect((await reasons())[1]).toEqual({ name: 'child', cancel_reason: null });
  });
});

describe('error codes in SQL', () => {
  test('are all in the table of errors', async () => {
    const database = await openTestStore('embedded');
    const rows = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query<{ body: string }>(
        `select prosrc as body from pg_proc where pronamespace = 'public'::regnamespace`,
      ),
    );
    const stored = /(?:'code', '|"code": "|hint = ')(\w+)/g;
    const codes = new Set(
      rows.flatMap(({ body }) => [...body.matchAll(stored)].map(([, code]) => code!)),
    );
    expect([...codes]).toEqual(
      expect.arrayContaining([
        'child_failed',
        'quorum_missed',
        'prerequisite_failed',
        'parent_ended',
        'session_cancelled',
        'job_cycle',
      ]),
    );
    expect([...codes].filter((code) => !isErrorCode(code))).toEqual([]);
  });
});
