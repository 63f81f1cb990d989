import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import type { JobHandler } from '../../src/jobs/context.ts';
import { createStageRun, readStanding } from '../../src/jobs/lanes.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

describeOnBoth('lanes', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  /** Each lane writes, then all wait for every lane's `write`, then each merges. */
  async function startStage(lanes: readonly string[]) {
    const run = await Bench.open(database, tenantId);
    const stageRunId = await database.asTenant(tenantId, (tx) =>
      createStageRun(tx, { sessionId: run.sessionId, iteration: 1, stageKey: 'thesis' }),
    );
    const laneIds = lanes.map(() => randomUUID());
    await run.enqueue(
      ...lanes.map((lane, index) =>
        named(`root-${lane}`, {
          type: 'PLAN',
          role: 'lane',
          stageRunId,
          laneId: laneIds[index]!,
          payload: { lane },
        }),
      ),
    );
    return { run, stageRunId, laneIds };
  }

  const planLane =
    (laneIds: readonly string[], policy: 'all' | 'any' = 'all'): JobHandler =>
    async ({ job, commit }) => {
      const standing = await database.asTenant(tenantId, (tx) => readStanding(tx, job.stageRunId!));
      const mine = standing.steps.get(job.laneId!) ?? new Map();
      const lane = job.payload['lane'] as string;
      if (!mine.has('write')) {
        const children = [named(`write-${lane}`, { stepKey: 'write', payload: { lane } })];
        return commit({ children, next: { waitFor: 'children' } });
      }
      if (mine.get('merge') === 'completed') return;
      const states = laneIds.map((id) => {
        const steps = standing.steps.get(id);
        return steps?.get('*') ?? steps?.get('write') ?? 'running';
      });
      if (states.includes('running')) {
        return commit({ next: { waitFor: 'lanes', version: standing.version } });
      }
      if (policy === 'all' && states.includes('failed')) {
        throw new DialecticError('conflict', 'a lane is missing');
      }
      const children = [named(`merge-${lane}`, { stepKey: 'merge', payload: { lane } })];
      return commit({ children, next: { waitFor: 'children' } });
    };

  const readRun = (stageRunId: string) =>
    database.asTenant(tenantId, (tx) =>
      tx.query('select state, degraded from stage_runs where id = $1', [stageRunId]),
    );

  test('wait for each other at a barrier and end the stage together', async () => {
    const { run, stageRunId, laneIds } = await startStage(['a', 'b', 'c']);
    const order: string[] = [];
    const execute: JobHandler = async ({ job }) => {
      if (job.payload['name'] === 'write-b') await new Promise((done) => setTimeout(done, 150));
      order.push(job.payload['name'] as string);
    };
    await withWorker(database, { PLAN: planLane(laneIds), EXECUTE: execute }, async () => {
      const names = ['a', 'b', 'c'].flatMap((lane) => [
        `root-${lane}`,
        `write-${lane}`,
        `merge-${lane}`,
      ]);
      await run.settled(Object.fromEntries(names.map((name) => [name, 'completed'])));
    });
    expect(order.slice(0, 3).every((name) => name.startsWith('write'))).toBe(true);
    expect(await readRun(stageRunId)).toEqual([{ state: 'completed', degraded: false }]);
  });

  test('a lane that fails fails the barrier, and a retry brings all of them through', async () => {
    const { run, stageRunId, laneIds } = await startStage(['a', 'b']);
    let broken = true;
    const written: string[] = [];
    const execute: JobHandler = async ({ job }) => {
      const name = job.payload['name'] as string;
      if (name === 'write-b' && broken) throw new DialecticError('usage_invalid', 'no');
      written.push(name);
    };
    await withWorker(database, { PLAN: planLane(laneIds), EXECUTE: execute }, async () => {
      await run.settled({
        'root-a': 'failed',
        'root-b': 'failed',
        'write-a': 'completed',
        'write-b': 'failed',
      });
      expect(await readRun(stageRunId)).toEqual([{ state: 'failed', degraded: true }]);
      broken = false;
      await database.asTenant(tenantId, (tx) => retrySession(tx, run.sessionId));
      const names = ['a', 'b'].flatMap((lane) => [
        `root-${lane}`,
        `write-${lane}`,
        `merge-${lane}`,
      ]);
      await run.settled(Object.fromEntries(names.map((name) => [name, 'completed'])));
    });
    expect(written.filter((name) => name === 'write-a')).toEqual(['write-a']);
    expect(await readRun(stageRunId)).toEqual([{ state: 'completed', degraded: false }]);
  });

  test('where the policy allows it the others go on and the stage is degraded', async () => {
    const { run, stageRunId, laneIds } = await startStage(['a', 'b']);
    const execute: JobHandler = async ({ job }) => {
      if (job.payload['name'] === 'write-b') throw new DialecticError('usage_invalid', 'no');
    };
    await withWorker(database, { PLAN: planLane(laneIds, 'any'), EXECUTE: execute }, () =>
      run.settled({
        'root-a': 'completed',
        'root-b': 'failed',
        'write-a': 'completed',
        'write-b': 'failed',
        'merge-a': 'completed',
      }),
    );
    expect(await readRun(stageRunId)).toEqual([{ state: 'completed', degraded: true }]);
  });
});
