import pg from 'pg';
import { childIds, type EngineModule, STEPS } from './engine.ts';

type Workflow = (id: string) => Promise<void>;
type Library = {
  DBOS: {
    setConfig(config: object): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    registerQueue(name: string, options: object): Promise<unknown>;
    registerWorkflow(workflow: Workflow, options: { name: string }): Workflow;
    startWorkflow(
      workflow: Workflow,
      options: object,
    ): (id: string) => Promise<{ getResult(): Promise<unknown> }>;
  };
};

const APPLICATION = 'bench';
/** A queue is polled every 50 ms instead of every second, with 200 instead of unlimited slots. */
const QUEUE = { minPollingIntervalMs: 50, workerConcurrency: 200, onConflict: 'always_update' };

/** DBOS: a tree is a workflow that starts its children on a queue and waits for their results. */
async function open(url: string, isFirst: boolean) {
  const specifier: string = '@dbos-inc/dbos-sdk';
  const { DBOS } = (await import(specifier)) as Library;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  let ran: (id: string) => void = () => {};
  const run = async (id: string): Promise<void> => ran(id);
  DBOS.registerWorkflow(run, { name: 'noop' });
  const child = DBOS.registerWorkflow(async (id) => ran(id), { name: 'child' });
  const plantTree = async (id: string): Promise<void> => {
    ran(`${id}/plan`);
    for (let step = 1; step <= STEPS; step++) {
      const start = DBOS.startWorkflow(child, { queueName: 'children' });
      const handles = await Promise.all(childIds(id, step).map((childId) => start(childId)));
      await Promise.all(handles.map((handle) => handle.getResult()));
    }
  };
  DBOS.registerWorkflow(plantTree, { name: 'tree' });

  const launch = async (listenQueues: string[]): Promise<void> => {
    DBOS.setConfig({
      name: APPLICATION,
      systemDatabaseUrl: url,
      systemDatabasePoolSize: 20,
      applicationVersion: '1',
      executorID: `process-${process.pid}`,
      listenQueues,
      logLevel: 'error',
    });
    await DBOS.launch();
  };
  if (isFirst) {
    await launch(['none']);
    for (const queue of ['jobs', 'children', 'trees']) await DBOS.registerQueue(queue, QUEUE);
  }
  const enqueue = async (workflow: string, queue: string, ids: readonly string[]) =>
    void (await pool.query(
      `select dbos.enqueue_workflow($1, $2, array[to_json(id)], app_version => '1',
         application_name => '${APPLICATION}') from unnest($3::text[]) as id`,
      [workflow, queue, ids],
    ));
  return {
    startWorker: async (onRun: (id: string) => void) => {
      ran = onRun;
      await launch(['jobs', 'children', 'trees']);
    },
    enqueueNoops: (ids: readonly string[]) => enqueue('noop', 'jobs', ids),
    enqueueTrees: (ids: readonly string[]) => enqueue('tree', 'trees', ids),
    countOpen: async () => {
      const text = `select count(*)::int from dbos.workflow_status
        where status in ('ENQUEUED', 'PENDING')`;
      return ((await pool.query(text)).rows[0] as { count: number }).count;
    },
    close: async () => {
      await DBOS.shutdown();
      await pool.end();
    },
  };
}

export default { open } satisfies EngineModule;
