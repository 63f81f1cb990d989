import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { emptyStore } from '../stores.ts';
import { seedDag, startWorker } from './crash-jobs.ts';

test.each(['embedded', 'server'] as const)(
  'a job that ends its worker again and again fails by name (%s)',
  async (kind) => {
    const place = await emptyStore(kind);
    await seedDag(place, { roots: 1, steps: [1] });
    const base = { concurrency: 1, leaseMs: 30_000, jobMs: 10, maxTakeovers: 2 };
    const settings = { ...base, die: { at: 'before-work', job: 1 } };
    // The first run and the two takeovers that are allowed: three workers die.
    for (let deaths = 0; deaths < 3; deaths++) {
      expect(await startWorker(place, settings).ended).toBe(null);
    }
    const last = startWorker(place, { ...settings, endWhenDone: true });
    expect(await last.ended).toBe(0);

    const database = await openDatabase(place, { backupEveryMs: 0 });
    const jobs = await database.asTenant(LOCAL_TENANT, (tx) =>
      tx.query(`select job_type, status, takeovers, error->>'code' as code,
        error->>'message' as message from jobs order by seq`),
    );
    expect(jobs).toEqual([
      expect.objectContaining({ job_type: 'PLAN', status: 'failed', code: 'child_failed' }),
      {
        job_type: 'EXECUTE',
        status: 'failed',
        takeovers: 3,
        code: 'takeovers_exhausted',
        message: '3 workers in a row died or lost their lease while they ran this job.',
      },
    ]);
    const notices = await database.asTenant(LOCAL_TENANT, (tx) =>
      tx.query(`select message from notices where code = 'takeovers_exhausted'`),
    );
    expect(notices.length).toBe(1);
    await database.close();
  },
  120_000,
);
