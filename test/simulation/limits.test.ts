import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import { newId } from '../../src/platform/ids.ts';
import { Bench, named } from '../engine.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { Track } from './race-track.ts';

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server', { connections: 16 });
  ({ tenantId } = await newTenant(database));
});
const race = (work: (track: Track) => Promise<void>) => Track.race(database, tenantId, work);
const times = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test('limits of a session hold against four workers that claim at once', async () => {
  await race(async (track) => {
    const { sessionId } = track.bench;
    await database.asTenant(tenantId, (tx) =>
      tx.query('update sessions set max_running = 3 where id = $1', [sessionId]),
    );
    await track.bench.enqueue(...times(60).map((n) => named(`j${n}`)));
    for (let done = 0; done < 60; ) {
      const claims = times(4).map(() => claimJobs(database, newId(), 10, 60_000, 'leases'));
      const jobs = (await Promise.all(claims)).flat();
      expect(jobs.length).toBeLessThanOrEqual(3);
      await track.complete(...jobs);
      done += jobs.length;
    }
  });
});

test('limits of several keys hold against four workers that claim from two sessions', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  await race(async (track) => {
    await database.asTenant(tenantId, (tx) =>
      tx.query(
        `insert into concurrency_limits (tenant_id, key, max_running)
         select $1, key, 1 from unnest($2::text[]) as key`,
        [tenantId, keys],
      ),
    );
    const other = await Bench.open(database, tenantId);
    const job = (n: number) => named(`j${n}`, { concurrencyKey: 'a' });
    await track.bench.enqueue(...times(10).map(job));
    await other.enqueue(...times(10).map(job));
    for (let done = 0; done < 20; ) {
      const claims = times(4).map(() => claimJobs(database, newId(), 10, 60_000, 'leases'));
      const jobs = (await Promise.all(claims)).flat();
      expect(jobs.length).toBeLessThanOrEqual(1);
      await track.complete(...jobs);
      done += jobs.length;
    }
    await database.asTenant(tenantId, (tx) => tx.query('delete from concurrency_limits'));
  });
});

test('limits of a key hold even while another limit is being changed', () =>
  race(async (track) => {
    await database.asTenant(tenantId, (tx) =>
      tx.query(
        `insert into concurrency_limits (tenant_id, key, max_running)
         values ($1, 'a', 1), ($1, 'b', 1)`,
        [tenantId],
      ),
    );
    await track.bench.enqueue(...times(4).map((n) => named(`j${n}`, { concurrencyKey: 'a' })));
    const change = await track.hold((tx) =>
      tx.query(`select 1 from concurrency_limits where key = 'b' for update`),
    );
    const claim = `select id from claim_jobs('${newId()}', 4, interval '1 minute', null, null)`;
    const first = await track.hold((tx) => tx.query(claim));
    await change();
    const second = await track.hold((tx) => tx.query(claim));
    await first();
    await second();
    const running = Object.values(await track.bench.statuses()).filter(
      (status) => status === 'processing',
    );
    expect(running.length).toBeLessThanOrEqual(1);
    await database.asTenant(tenantId, (tx) => tx.query('delete from concurrency_limits'));
  }));

test('the running jobs of a key are counted by an index of their own', () =>
  race(async (track) => {
    await track.bench.enqueue(
      ...times(200).map((n) => named(`j${n}`, { concurrencyKey: `k${n}` })),
    );
    await track.claim();
    const plan = await database.asTenant(tenantId, async (tx) => {
      await tx.query('set local enable_seqscan = off');
      return tx.query<Record<string, string>>(
        `explain select count(*) from jobs r where r.status = 'processing'
           and r.concurrency_key = 'k7' and r.tenant_id = $1`,
        [tenantId],
      );
    });
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('jobs_running_by_key');
  }));
