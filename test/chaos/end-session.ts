import { openDatabase } from '../../src/db/open.ts';
import { Worker } from '../../src/jobs/worker.ts';

// A worker process for the test that kills it: ends a session with the job that it finds, and says so.
const { dataDirectory } = JSON.parse(process.argv[2]!) as { dataDirectory: string };
const database = await openDatabase({ dataDirectory }, { backupEveryMs: 0 });
const worker = new Worker({
  database,
  handlers: {
    PLAN: ({ job, commit }) =>
      commit({
        write: async (tx) => {
          await tx.query(`update sessions set status = 'completed' where id = $1`, [job.sessionId]);
        },
      }),
  },
  onEnded: () => process.stdout.write('ended\n'),
});
await worker.start();
