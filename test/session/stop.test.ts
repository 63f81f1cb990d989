import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { type StoreLocation } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { removeGate } from '../../src/jobs/sessions.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { cancelRun, pauseRun } from '../../src/session/stop.ts';
import { type Script, startScript } from '../chaos/processes.ts';
import { withWorker } from '../engine.ts';
import { type Pace, startScriptedServer } from '../generation/scripted-server.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { describeOnBoth, emptyStore, openStore } from '../stores.ts';

const TEXT = JSON.stringify({ text: 'One sentence after another. '.repeat(2_000) });
const SHORT = JSON.stringify({ text: 'What follows from it.' });
const drafts = processOf('drafts', [
  stage('draft', [
    step('first', 'PLAN', 'all_to_one', 'first', ['seed:draft/']),
    step('second', 'EXECUTE', 'per_source_document', 'second', ['header:draft/first']),
  ]),
]);

const PIECES = `select 1 from call_pieces p
  join model_calls c on c.tenant_id = p.tenant_id and c.id = p.call_id where c.session_id = $1`;

type Server = Awaited<ReturnType<typeof startScriptedServer>>;
/** Works on the store while `watch` runs: in this process, or in one of its own. */
type Work = (server: Server, sessionId: string, watch: () => Promise<void>) => Promise<void>;

describeOnBoth('a run that a person stops', (kind) => {
  let place: StoreLocation;
  let database: Database;
  beforeAll(async () => {
    place = await emptyStore(kind);
    database = await openStore(place);
    await ensureLocalTenant(database);
  });

  const inThisProcess: Work = (server, _sessionId, watch) => {
    const config = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
    const provider = createModelProvider(config);
    return withWorker(database, createHandlers({ database, config, provider }), watch, {
      concurrency: 1,
    });
  };
  const inAnother: Work = async (server, sessionId, watch) => {
    const settings = { place, baseUrl: server.url, sessionId, concurrency: 1 };
    const worker: Script = startScript('../generation/stream-worker.ts', JSON.stringify(settings));
    try {
      await watch();
    } finally {
      worker.child.kill('SIGKILL');
      await worker.ended;
    }
  };
  const workers: [string, Work][] =
    kind === 'server'
      ? [
          ['this process', inThisProcess],
          ['another process', inAnother],
        ]
      : [['this process', inThisProcess]];

  const start = async (): Promise<string> => {
    const models = ['compatible/scripted'];
    const run = { name: 'P', brief: 'Write.', process: drafts, models };
    return (await database.asTenant(LOCAL_TENANT, (tx) => startRun(tx, run))).sessionId;
  };
  const read = (sessionId: string) =>
    database.asTenant(LOCAL_TENANT, (tx) => readSession(tx, sessionId));
  const query = <Row extends object>(text: string, sessionId: string): Promise<Row[]> =>
    database.asTenant(LOCAL_TENANT, (tx) => tx.query<Row>(text, [sessionId]));
  const until = (check: () => unknown) =>
    expect.poll(check, { timeout: 60_000, interval: 20 }).toBe(true);
  /** A run whose first answer is being streamed and saved; `pace.gapMs = 0` lets it go through. */
  async function whileStreaming(
    work: Work,
    stop: (sessionId: string, server: Server, pace: Pace) => Promise<void>,
  ): Promise<void> {
    const pace: Pace = { pieceChars: 50, gapMs: 60 };
    const server = await startScriptedServer(
      ({ deliverable }) => ({ text: deliverable === 'draft/first' ? TEXT : SHORT }),
      pace,
    );
    const sessionId = await start();
    try {
      await work(server, sessionId, async () => {
        await until(async () => (await query(PIECES, sessionId)).length > 0);
        await stop(sessionId, server, pace);
      });
    } finally {
      await server.stop();
    }
  }

  test.each(workers)(
    'pauses: the call of %s is saved, and no other starts',
    async (_, work) => {
      await whileStreaming(work, async (sessionId, server, pace) => {
        await database.asTenant(LOCAL_TENANT, (tx) => pauseRun(tx, sessionId));
        expect(server.served[0]!.over).toBe(false);
        pace.gapMs = 0;
        const steps = () =>
          query<{ step: string; status: string }>(
            `select step_key as step, status from jobs where session_id = $1
             and job_type = 'EXECUTE' order by seq`,
            sessionId,
          );
        await until(async () => (await steps())[0]?.status === 'completed');
        const left = [
          { step: 'first', status: 'completed' },
          { step: 'second', status: 'pending' },
        ];
        expect(await steps()).toEqual(left);
        // Another session of the store runs to its end: the worker looked for work and left this one.
        if (work === inThisProcess) {
          const other = await start();
          await until(async () => (await read(other)).status === 'completed');
        }
        expect(await steps()).toEqual(left);
        expect(await read(sessionId)).toMatchObject({ status: 'running', gates: ['user'] });
        await database.asTenant(LOCAL_TENANT, (tx) => removeGate(tx, sessionId));
        await until(async () => (await read(sessionId)).status === 'completed');
      });
    },
    120_000,
  );

  test.each(workers)(
    'cancels: the call of %s ends at once, saved and paid',
    async (_, work) => {
      await whileStreaming(work, async (sessionId, server) => {
        await database.asTenant(LOCAL_TENANT, (tx) => cancelRun(tx, sessionId));
        await until(() => server.served[0]!.over);
        const calls = () =>
          query<{ status: string; text: string; tokens: number; hold: string }>(
            `select c.status, b.body as text, c.output_tokens as tokens, h.status as hold
           from model_calls c
           join contributions k on k.tenant_id = c.tenant_id and k.id = c.contribution_id
           join blobs b on b.tenant_id = c.tenant_id and b.hash = k.blob_hash
           join holds h on h.tenant_id = c.tenant_id and h.call_id = c.id
           where c.session_id = $1`,
            sessionId,
          );
        await until(async () => (await calls()).length === 1);
        const [call] = await calls();
        expect(call).toMatchObject({ status: 'cut', hold: 'posted' });
        expect(TEXT.startsWith(call!.text)).toBe(true);
        expect(call!.text.length).toBeGreaterThan(50);
        expect(call!.tokens).toBeGreaterThan(0);
        const open = 'select 1 from jobs where session_id = $1 and not is_over(status)';
        expect(await query(open, sessionId)).toEqual([]);
        expect(await query(PIECES, sessionId)).toEqual([]);
        expect(server.served.length).toBe(1);
        expect(await read(sessionId)).toMatchObject({ status: 'cancelled', gates: [] });
      });
    },
    120_000,
  );

  test('cancels: an answer that cannot be saved is told of, beside the lease that was lost', async () => {
    const lines: string[] = [];
    const work: Work = (server, _sessionId, watch) => {
      const config = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
      const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
      return withWorker(database, handlers, watch, { log: (line) => lines.push(line) });
    };
    const change = (sql: string) => database.transaction({ as: 'owner' }, (tx) => tx.query(sql));
    await change(`create function refuse_chunk() returns trigger language plpgsql as
      $$ begin raise exception 'no chunk today'; end $$`);
    await change(`create trigger refuse_chunk before insert on contributions
      execute function refuse_chunk()`);
    try {
      await whileStreaming(work, async (sessionId) => {
        await database.asTenant(LOCAL_TENANT, (tx) => cancelRun(tx, sessionId));
        const told = 'this worker. What its call had brought is not saved: no chunk today';
        await until(() => lines.some((line) => line.includes(told)));
      });
    } finally {
      await change('drop function refuse_chunk cascade');
    }
  }, 120_000);

  test('a run that is over can be neither paused nor cancelled', async () => {
    const sessionId = await start();
    await database.asTenant(LOCAL_TENANT, (tx) => pauseRun(tx, sessionId));
    await database.asTenant(LOCAL_TENANT, (tx) => cancelRun(tx, sessionId));
    for (const stop of [pauseRun, cancelRun]) {
      const refused = database.asTenant(LOCAL_TENANT, (tx) => stop(tx, sessionId));
      await expect(refused).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('cancelled') as string,
      });
    }
  });
});
