import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/db/open.ts';
import type { JobHandler } from '../../src/jobs/context.ts';
import { Worker } from '../../src/jobs/worker.ts';

// A worker process for the chaos tests: runs DAGs whose results are a function of their payload, and
// can be told to die at a named point of every n-th job that it runs.
type Settings = {
  place: { dataDirectory: string } | { databaseUrl: string };
  concurrency: number;
  leaseMs: number;
  jobMs: number;
  die?: { at: string; every: number };
};
const settings = JSON.parse(process.argv[2]!) as Settings;
const say = (line: string): void => void writeSync(1, `${line}\n`);
let executed = 0;

function maybeDie(point: string): void {
  const { die } = settings;
  if (die?.at === point && executed % die.every === 0) process.kill(process.pid, 'SIGKILL');
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
  executed++;
  say(`start ${name}`);
  maybeDie('before-work');
  await sleep(settings.jobMs * (0.5 + Number(`0x${hash(name).slice(0, 4)}`) / 0xffff));
  maybeDie('before-commit');
  await commit({
    events: [{ topic: 'results', kind: 'result-written', payload: { name, value: hash(name) } }],
    write: async () => maybeDie('in-commit'),
  });
  maybeDie('after-commit');
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
  log: (message) => process.stderr.write(`${message}\n`),
});
await worker.start();
say('open');
process.on('SIGTERM', () => {
  void worker
    .stop()
    .then(() => database.close())
    .then(() => process.exit(0));
});
