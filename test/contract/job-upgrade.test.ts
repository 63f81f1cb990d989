import { expect, test } from 'vitest';
import { Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { ServerDriver } from '../../src/db/server-driver.ts';
import { newId } from '../../src/platform/ids.ts';
import { ownedDatabase } from '../owned-database.ts';
import { newTenant } from '../stores.ts';
import { makeEarlierSchema } from './earlier-schema.ts';

test('jobs of a store of version 0.1 get their role, cancel reason and document, and sessions their reason', async () => {
  const url = await ownedDatabase({ ofEarlierBuild: true });
  const database = new Database(await ServerDriver.open(url));
  await makeEarlierSchema(database, 6);
  const { tenantId } = await newTenant(database);
  const [sessionId, run, lane] = [newId(), newId(), newId()];
  const [stage, root, step, link] = [newId(), newId(), newId(), newId()];
  const place = { documentKey: 'plan', identity: '1/thesis/write' };
  const planned = { ...place, sourceGroup: step, respondingLaneId: null };
  const payloads = new Map<string, object>([
    ['PLAN', {}],
    ['EXECUTE', { planned }],
    ['RENDER', place],
  ]);
  await database.asTenant(tenantId, async (tx) => {
    await tx.query('insert into sessions (tenant_id, id) values ($1, $2)', [tenantId, sessionId]);
    await tx.query(
      `insert into stage_runs (tenant_id, id, session_id, iteration, stage_key)
       values ($1, $2, $3, 1, 'thesis')`,
      [tenantId, run, sessionId],
    );
    const insert = (id: string, type: string, columns: readonly (string | null)[]) =>
      tx.query(
        `insert into jobs (tenant_id, id, chain_id, session_id, job_type, parent_job_id,
           stage_run_id, lane_id, step_key, status, error, payload)
         values ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
        [tenantId, id, sessionId, type, ...columns, payloads.get(type)],
      );
    await insert(stage, 'PLAN', [null, run, null, null, 'waiting_for_children', null]);
    await insert(root, 'PLAN', [stage, run, lane, null, 'waiting_for_children', null]);
    await insert(step, 'EXECUTE', [root, run, lane, 'write', 'completed', null]);
    await insert(newId(), 'RENDER', [step, run, lane, null, 'pending', null]);
    const code = JSON.stringify({ code: 'parent_ended', message: 'ended' });
    await insert(link, 'EXECUTE', [root, run, lane, 'write', 'cancelled', code]);
  });
  const resting = newId();
  await database.asTenant(tenantId, (tx) =>
    tx.query(`insert into sessions (tenant_id, id, status) values ($1, $2, 'awaiting_review')`, [
      tenantId,
      resting,
    ]),
  );
  await migrate(database);
  const [session] = await database.asTenant(tenantId, (tx) =>
    tx.query('select awaiting from sessions where id = $1', [resting]),
  );
  expect(session).toEqual({ awaiting: 'review' });
  const rows = await database.asTenant(tenantId, (tx) =>
    tx.query(
      `select job_type, role, step_key, cancel_reason, document_key, document_identity,
         source_group from jobs order by seq`,
    ),
  );
  const none = { document_key: null, document_identity: null, source_group: null };
  const execute = {
    job_type: 'EXECUTE',
    role: 'step',
    step_key: 'write',
    document_key: 'plan',
    document_identity: '1/thesis/write',
    source_group: step,
  };
  expect(rows).toEqual([
    { job_type: 'PLAN', role: 'stage', step_key: null, cancel_reason: null, ...none },
    { job_type: 'PLAN', role: 'lane', step_key: null, cancel_reason: null, ...none },
    { ...execute, cancel_reason: null },
    { ...execute, job_type: 'RENDER', cancel_reason: null, source_group: null },
    { ...execute, cancel_reason: 'parent_ended' },
  ]);
  await database.close();
});
