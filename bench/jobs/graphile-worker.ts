import pg from 'pg';
import { BATCH_SIZE, childIds, type EngineModule, STEPS } from './engine.ts';

export type Query = (text: string, values: unknown[]) => Promise<unknown>;
type Spec = { identifier: string; payload: Record<string, unknown> };
type Task = (payload: { id: string; step: number }, helpers: { query: Query }) => Promise<void>;
type Library = {
  run(options: object): Promise<{ stop(): Promise<void> }>;
  Logger: new (factory: () => (level: string, message: string) => void) => object;
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJobs(specs: Spec[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
};

// The library has no trees. As its users do, a table of one's own says which children are open; a
// trigger counts them down under the lock of their tree's row and adds the next step's job.
const TREES = `
  create table if not exists trees (id text primary key, open int not null);
  create table if not exists children (
    id text primary key, tree text not null references trees, step int not null,
    is_done boolean not null default false
  );
  create or replace function count_down() returns trigger language plpgsql as $$
  declare
    tree record;
  begin
    perform 1 from trees where id in (select n.tree from new_rows n) order by id for update;
    for tree in
      update trees t set open = t.open - d.children
      from (select n.tree, n.step, count(*)::int as children from new_rows n group by 1, 2) as d
      where t.id = d.tree returning t.id, t.open, d.step
    loop
      if tree.open = 0 then
        perform graphile_worker.add_job('plan',
          json_build_object('id', tree.id, 'step', tree.step + 1));
      end if;
    end loop;
    return null;
  end $$;
  create or replace trigger children_done after update on children
    referencing new table as new_rows for each statement execute function count_down();`;

const PLAN = `
  with tree as (
    insert into trees (id, open) values ($1, cardinality($3::text[]))
    on conflict (id) do update set open = cardinality($3::text[]) returning id
  ), planned as (
    insert into children (id, tree, step)
    select child, tree.id, $2 from tree, unnest($3::text[]) as child returning id
  )
  select graphile_worker.add_jobs(array_agg(
    json_populate_record(null::graphile_worker.job_spec,
      json_build_object('identifier', 'child', 'payload', json_build_object('id', id)))))
  from planned`;

export const DONE = 'update children set is_done = true where id = any ($1) and not is_done';

/** Marks one child as done. */
type Finish = (id: string, query: Query) => Promise<unknown>;

/** graphile-worker with its local queue and with completions in batches. */
export async function openGraphile(url: string, isFirst: boolean, finish: Finish) {
  const specifier: string = 'graphile-worker';
  const library = (await import(specifier)) as Library;
  const logger = new library.Logger(() => (level, message) => {
    if (level === 'error') console.error(message);
  });
  const pool = new pg.Pool({ connectionString: url, max: 20 });
  pool.on('error', console.error);
  pool.on('connect', (client) => void client.on('error', console.error));
  const utils = await library.makeWorkerUtils({ pgPool: pool, logger });
  if (isFirst) await utils.migrate();
  if (isFirst) await pool.query(TREES);
  let runner: { stop(): Promise<void> } | undefined;

  const tasks = (ran: (id: string) => void): Record<string, Task> => ({
    noop: async ({ id }) => ran(id),
    plan: async ({ id, step }, { query }) => {
      ran(`${id}/plan`);
      if (step <= STEPS) await query(PLAN, [id, step, childIds(id, step)]);
    },
    child: async ({ id }, { query }) => {
      ran(id);
      await finish(id, query);
    },
  });
  return {
    startWorker: async (ran: (id: string) => void) => {
      runner = await library.run({
        pgPool: pool,
        noHandleSignals: true,
        taskList: tasks(ran),
        preset: {
          worker: {
            concurrentJobs: BATCH_SIZE,
            localQueue: { size: BATCH_SIZE },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            logger,
          },
        },
      });
    },
    enqueueNoops: async (ids: readonly string[]) =>
      void (await utils.addJobs(ids.map((id) => ({ identifier: 'noop', payload: { id } })))),
    enqueueTrees: async (ids: readonly string[]) =>
      void (await utils.addJobs(
        ids.map((id) => ({ identifier: 'plan', payload: { id, step: 1 } })),
      )),
    countOpen: async () => {
      const { rows } = await pool.query('select count(*)::int from graphile_worker._private_jobs');
      return (rows[0] as { count: number }).count;
    },
    close: async () => {
      await runner?.stop();
      await utils.release();
      await pool.end();
    },
  };
}

/** One statement for each child, as a handler would have it. */
const open: EngineModule['open'] = (url, isFirst) =>
  openGraphile(url, isFirst, (id, query) => query(DONE, [[id]]));

export default { open } satisfies EngineModule;
