import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { commitEffects } from '../../src/jobs/context.ts';
import type { Job } from '../../src/jobs/types.ts';
import { named } from '../engine.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { Track } from './race-track.ts';

/**
 * Lets two EXECUTE jobs of one stage run commit at the same moment, each with a RENDER child: the
 * insert takes a share lock on the stage run, the end of the job the lock that counts. Neither goes
 * through a wallet, whose lock would put one behind the other. Returns the deadlocks of the server.
 */
export async function raceRenders(rounds: number): Promise<number> {
  const database = await openTestStore('server', { connections: 16 });
  const { tenantId } = await newTenant(database);
  const before = await countDeadlocks(database);
  await Track.race(database, tenantId, async (track) => {
    const stageRunId = await track.stageRun();
    for (let round = 0; round < rounds; round++) {
      const lane = { stageRunId, laneId: randomUUID(), role: 'lane' } as const;
      const writers = [named('a', { stepKey: 'write' }), named('b', { stepKey: 'write' })];
      const { children } = await track.family(`lane ${round}`, writers, lane);
      const write = (job: Job) =>
        commitEffects(database, job, {
          children: [named(`render ${job.id}`, { type: 'RENDER', stepKey: 'write' })],
        });
      await Promise.all([...children.values()].map(write));
      const rest = [...(await track.claim()).values()];
      const types = rest.map((job) => job.type).toSorted();
      expect(types, `round ${round}: the lane goes on`).toEqual(['PLAN', 'RENDER', 'RENDER']);
      await Promise.all(rest.map((job) => track.complete(job)));
    }
    const statuses = Object.values(await track.bench.statuses());
    expect(statuses.filter((status) => status !== 'completed')).toEqual([]);
  });
  return (await countDeadlocks(database)) - before;
}

/** Statistics of a server come up to a second late unless the connection that made them is asked. */
async function countDeadlocks(database: Database): Promise<number> {
  const [row] = await database.transaction({ as: 'owner' }, async (tx) => {
    await tx.query('select pg_stat_force_next_flush()');
    return tx.query<{ n: number }>(
      'select deadlocks as n from pg_stat_database where datname = current_database()',
    );
  });
  return row!.n;
}
