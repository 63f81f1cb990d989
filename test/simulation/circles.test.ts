import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { commitEffects } from '../../src/jobs/context.ts';
import { named } from '../engine.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { Track } from './race-track.ts';

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('embedded');
  ({ tenantId } = await newTenant(database));
});

test('a child that waits for a job above it is refused, and its parent can still go on', () =>
  Track.race(database, tenantId, async (track) => {
    const { plan, children } = await track.family('top', [named('middle', { type: 'PLAN' })]);
    const middle = children.get('middle')!;
    const [outside] = await track.bench.enqueue(named('outside', { prerequisiteId: plan.id }));
    const wait = (prerequisiteId: string) =>
      commitEffects(database, middle, {
        children: [named('child', { prerequisiteId })],
        next: { waitFor: 'children' },
      });
    for (const above of [middle.id, plan.id, outside!]) {
      await expect(wait(above)).rejects.toMatchObject({ code: 'job_cycle' });
    }
    await track.complete(middle);
    expect(await track.bench.statuses()).toEqual({
      top: 'pending_next_step',
      middle: 'completed',
      outside: 'waiting_for_prerequisite',
    });
  }));

test('a child may wait for its siblings and for jobs elsewhere', () =>
  Track.race(database, tenantId, async (track) => {
    const [elsewhere] = await track.bench.enqueue(named('elsewhere'));
    const { children } = await track.family('top', [
      named('first'),
      named('second', { prerequisiteId: elsewhere! }),
    ]);
    expect([...children.keys()]).toEqual(['first']);
    expect(await track.statusOf('second')).toBe('waiting_for_prerequisite');
  }));
