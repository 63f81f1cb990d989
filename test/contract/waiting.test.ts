import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import { createStageRun } from '../../src/jobs/lanes.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('a job that waits for children from the beginning', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  test.each([
    [true, ['child']],
    [false, ['child', 'root']],
  ])('may end with the last of them: %s', async (thenEnd, expected) => {
    const run = await Bench.open(database, tenantId);
    const id = newId();
    const root = named('root', { id, type: 'PLAN', waits: { thenEnd } });
    await run.enqueue(root, named('child', { parentId: id }));
    expect(await run.statuses()).toEqual({ root: 'waiting_for_children', child: 'pending' });
    const ran: unknown[] = [];
    const handle = async ({ job }: JobContext): Promise<void> => {
      ran.push(job.payload['name']);
    };
    await withWorker(database, { PLAN: handle, EXECUTE: handle }, () =>
      run.settled({ root: 'completed', child: 'completed' }),
    );
    expect(ran).toEqual(expected);
  });

  test('is refused without them: nothing would ever wake it', async () => {
    const run = await Bench.open(database, tenantId);
    const plan = { type: 'PLAN', waits: { thenEnd: true } } as const;
    const refused = { code: 'internal_error', cause: { code: 'DX000' } };
    const lone = run.enqueue(named('root', plan));
    await expect(lone).rejects.toMatchObject(refused);
    const id = newId();
    const once = named('child', { idempotencyKey: newId() });
    await run.enqueue(named('first', { type: 'PLAN' }), once);
    const root = named('root', { id, ...plan });
    await expect(run.enqueue(root, { ...once, parentId: id })).rejects.toMatchObject(refused);
    expect(Object.keys(await run.statuses())).toEqual(['first', 'child']);
  });

  test('may come before them where it is a stage, as earlier builds insert it', async () => {
    const run = await Bench.open(database, tenantId);
    const { sessionId } = run;
    const stageRunId = await database.asTenant(tenantId, (tx) =>
      createStageRun(tx, { sessionId, iteration: 1, stageKey: 'thesis' }),
    );
    const id = newId();
    const waits = { thenEnd: false };
    await run.enqueue(named('stage', { id, type: 'PLAN', role: 'stage', stageRunId, waits }));
    await run.enqueue(named('child', { stageRunId, parentId: id }));
    expect(await run.statuses()).toEqual({ stage: 'waiting_for_children', child: 'pending' });
  });
});
