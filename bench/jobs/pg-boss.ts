import { BATCH_SIZE, childIds, type EngineModule, STEPS } from './engine.ts';

type Sql = { executeSql(text: string): Promise<{ rows: unknown[] }> };
type Job = { data: { id: string; step: number } };
type Boss = {
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  on(event: 'error', heard: (error: unknown) => void): void;
  on(event: 'flow', heard: () => void): void;
  createQueue(name: string, options: { notify: boolean }): Promise<void>;
  work(name: string, options: object, handler: (jobs: Job[], tx: Sql) => unknown): Promise<string>;
  insert(name: string, jobs: { data: object }[], options?: { db: Sql }): Promise<unknown>;
  flow(jobs: object[], options?: { db: Sql }): Promise<unknown>;
  notifyWorker(id: string): void;
  resolveFlow(): Promise<void>;
  getDb(): Sql;
};
type Library = { PgBoss: new (options: object) => Boss };

const QUEUES = ['noop', 'plan', 'child'];
/** Wakes by NOTIFY, takes 50 jobs in each of two loops and goes on at once while batches are full. */
const TUNED = {
  batchSize: BATCH_SIZE,
  localConcurrency: 2,
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
  notifyPollingIntervalSeconds: 0.5,
};

/** The children of one step and the job that follows when all of them have ended. */
function planStep(tree: string, step: number): object[] {
  const ids = childIds(tree, step);
  return [
    ...ids.map((id) => ({ ref: id, name: 'child', data: { id } })),
    { ref: 'next', name: 'plan', data: { id: tree, step: step + 1 }, dependsOn: ids },
  ];
}

/** pg-boss, tuned; its own timer looks for flows to resolve once a second at the most. */
export async function openBoss(url: string, isFirst: boolean, resolveEveryMs?: number) {
  const specifier: string = 'pg-boss';
  const { PgBoss } = (await import(specifier)) as Library;
  const boss = new PgBoss({
    connectionString: url,
    max: 10,
    useListenNotify: true,
    schedule: false,
    flowIntervalSeconds: 1,
    migrate: isFirst,
  });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  if (isFirst) for (const queue of QUEUES) await boss.createQueue(queue, { notify: true });

  return {
    startWorker: async (ran: (id: string) => void) => {
      const runAll = async (jobs: Job[]): Promise<void> => {
        for (const job of jobs) ran(job.data.id);
      };
      const plan = async (jobs: Job[], tx: Sql): Promise<void> => {
        for (const { data } of jobs) {
          ran(`${data.id}/plan`);
          if (data.step <= STEPS) await boss.flow(planStep(data.id, data.step), { db: tx });
        }
      };
      const workers = [
        await boss.work('noop', TUNED, runAll),
        await boss.work('child', TUNED, runAll),
        await boss.work('plan', { ...TUNED, transactional: true }, plan),
      ];
      if (resolveEveryMs) setInterval(() => void boss.resolveFlow(), resolveEveryMs);
      boss.on('flow', () => {
        for (const worker of workers) boss.notifyWorker(worker);
      });
    },
    enqueueNoops: async (ids: readonly string[]) =>
      void (await boss.insert(
        'noop',
        ids.map((id) => ({ data: { id } })),
      )),
    enqueueTrees: async (ids: readonly string[]) =>
      void (await boss.insert(
        'plan',
        ids.map((id) => ({ data: { id, step: 1 } })),
      )),
    countOpen: async () => {
      const text = `select count(*)::int from pgboss.job where state < 'completed'`;
      return ((await boss.getDb().executeSql(text)).rows[0] as { count: number }).count;
    },
    close: () => boss.stop({ graceful: true }),
  };
}

const open: EngineModule['open'] = (url, isFirst) => openBoss(url, isFirst);

export default { open } satisfies EngineModule;
