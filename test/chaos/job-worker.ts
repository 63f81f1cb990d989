import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type StoreLocation } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import type { JobHandler } from '../../src/jobs/context.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { Worker } from '../../src/jobs/worker.ts';
import type { WorkerSettings } from './crash-jobs.ts';

// A worker process for the chaos tests: runs DAGs whose results are a function of their payload.
type Settings = WorkerSettings & { place: StoreLocation };
const settings = JSON.parse(process.argv[2]!) as Settings;
const say = (line: string): void => void writeSync(1, `${line}\n`);
let executed = 0;

function maybeDie(point: string, nth: number): void {
  const { die } = settings;
  if (die?.at === point && nth === die.job) process.kill(process.pid, 'SIGKILL');
}

const plan: JobHandler = async ({ job, commit }) => {
  const { name, steps, step } = job.payload as { name: string; steps: number[]; step: number };
  const width = steps[step];
  say(`start ${name}`);
  if (width === undefined) return;
  const children = Array.from({ length: width }, (_, n) => ({
    type: 'EXECUTE' as const,
    stepKey: `step-${step}`,
    idempotencyKey: `${name}/${step}/${n}`,
    payload: { name: `${name}/${step}/${n}` },
  }));
  await commit({
    write: async (tx) => {
      const payload = { ...job.payload, step: step + 1 };
      await tx.query('update jobs set payload = $1 where id = $2', [payload, job.id]);
    },
    children,
    next: { waitFor: 'children' },
  });
};

const execute: JobHandler = async ({ job, commit }) => {
  const name = job.payload['name'] as string;
  const nth = ++executed;
  say(`start ${name}`);
  if (settings.jobs !== undefined && nth > settings.jobs) {
    say(`hold ${name}`);
    await new Promise(() => {});
  }
  maybeDie('before-work', nth);
  await sleep(settings.jobMs * (0.5 + Number(`0x${hash(name).slice(0, 4)}`) / 0xffff));
  maybeDie('before-commit', nth);
  await commit({
    events: [{ topic: 'results', kind: 'result-written', payload: { name, value: hash(name) } }],
    write: async () => maybeDie('in-commit', nth),
  });
  maybeDie('after-commit', nth);
  say(`done ${name}`);
};

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const database = await openDatabase(settings.place, { backupEveryMs: 0 });
const worker = new Worker({
  database,
  handlers: { PLAN: plan, EXECUTE: execute },
  concurrency: settings.concurrency,
  leaseMs: settings.leaseMs,
  pollMs: 200,
  settings: { ...DEFAULT_JOB_SETTINGS, maxTakeovers: settings.maxTakeovers ?? 1_000_000 },
  log: (message) => process.stderr.write(`${message}\n`),
});
await worker.start();
say('open');
async function end(): Promise<void> {
  await worker.stop();
  await database.close();
  process.exit(0);
}
process.on('SIGTERM', () => void end());
if (settings.endWhenDone) {
  const countOpen = () =>
    database.asTenant(LOCAL_TENANT, (tx) =>
      tx.query('select 1 from jobs where not is_over(status) limit 1'),
    );
  while ((await countOpen()).length > 0) await sleep(50);
  await end();
}
