import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openNotices } from '../../src/db/notices.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import type { JobHandler } from '../../src/jobs/context.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const refusal = () => new DialecticError('model_refused', 'No.', { details: { model: 'm' } });

/** Plans one child, and is done when it is over. */
const planOnce: JobHandler = async ({ job, commit }) => {
  if (job.payload['planned']) return;
  await commit({
    write: async (tx) => {
      const payload = { ...job.payload, planned: true };
      await tx.query('update jobs set payload = $1 where id = $2', [payload, job.id]);
    },
    children: [named('child')],
    next: { waitFor: 'children' },
  });
};

/** Writes something, tells somebody and fails, as one transaction. */
const writeAndFail: JobHandler = async ({ job, commit }) => {
  await commit({
    write: async (tx) => {
      const payload = { ...job.payload, written: true };
      await tx.query('update jobs set payload = $1 where id = $2', [payload, job.id]);
    },
    events: [{ topic: 'told', kind: 'refused', payload: { job: job.id } }],
    next: { fail: refusal() },
  });
};

describeOnBoth('a job that fails itself', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  test('keeps what it wrote, fails its parent, tells the user and can be retried', async () => {
    const run = await Bench.open(database, tenantId);
    await run.enqueue(named('parent', { type: 'PLAN' }));
    await withWorker(database, { PLAN: planOnce, EXECUTE: writeAndFail }, () =>
      run.settled({ parent: 'failed', child: 'failed' }),
    );
    const [, child] = await run.rows();
    expect(child).toMatchObject({ attempt: 1, error: { code: 'model_refused', message: 'No.' } });
    await database.asTenant(tenantId, async (tx) => {
      const written = `select from jobs where id = $1 and payload->>'written' = 'true'`;
      expect(await tx.query(written, [child!.id])).toHaveLength(1);
      const told = `select from events where topic = 'told' and payload->>'job' = $1`;
      expect(await tx.query(told, [child!.id])).toHaveLength(1);
      const codes = (await openNotices(tx)).map(({ code }) => code);
      expect(codes).toContain('model_refused');
      await retrySession(tx, run.sessionId);
    });
    await withWorker(database, { PLAN: planOnce, EXECUTE: async () => {} }, () =>
      run.settled({ parent: 'completed', child: 'completed' }),
    );
  });

  test('changes nothing where its lease is lost', async () => {
    const run = await Bench.open(database, tenantId);
    await run.enqueue(named('a'));
    const late: JobHandler = async ({ job, commit }) => {
      if (job.takeovers > 0) return;
      await database.asWorker((tx) =>
        tx.query(
          `update jobs set status = 'pending', takeovers = 1, lease_token = null,
             lease_until = null, worker_id = null where id = $1`,
          [job.id],
        ),
      );
      await commit({ next: { fail: refusal() } });
    };
    await withWorker(database, { EXECUTE: late }, () => run.settled({ a: 'completed' }));
  });
});
