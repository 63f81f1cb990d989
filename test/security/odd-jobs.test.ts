import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { newId } from '../../src/platform/ids.ts';
import { withWorker } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const PLANNED = {
  identity: '1/thesis/write/0',
  stage: 'thesis',
  step: 'write',
  laneId: newId(),
  iteration: 1,
  documentKey: 'plan',
  outputKind: 'document',
  inputs: [{ name: 'brief', ids: [newId()] }],
  inputIds: [newId()],
  driverId: null,
  respondingLaneId: null,
  anchor: { status: 'no_anchor_required' },
  sourceGroup: null,
  relationships: {},
};
const without = (key: keyof typeof PLANNED) =>
  Object.fromEntries(Object.entries(PLANNED).filter(([name]) => name !== key));
const AWAITED = { identity: 'x', documentId: newId(), contributionId: newId() };

/** Payloads whose shape no handler expects. */
const NOTHING: readonly unknown[] = [{}, null, [], 'text', 5, { stage: 7, iteration: 'first' }];
const ODD: Readonly<Record<'PLAN' | 'EXECUTE' | 'RENDER', readonly unknown[]>> = {
  PLAN: [...NOTHING, { stage: 'thesis' }, { stage: 'thesis', iteration: 1.5 }],
  RENDER: [...NOTHING, { identity: null }, { identity: { a: 1 } }],
  EXECUTE: [
    ...NOTHING,
    ...[null, [], 'text', {}].map((planned) => ({ planned })),
    ...(Object.keys(PLANNED) as (keyof typeof PLANNED)[])
      .filter((key) => !['driverId', 'respondingLaneId', 'anchor'].includes(key))
      .map((key) => ({ planned: without(key) })),
    { planned: { ...PLANNED, inputs: 'text' } },
    { planned: { ...PLANNED, inputs: [null] } },
    { planned: { ...PLANNED, inputs: [{ name: 'brief' }] } },
    { planned: { ...PLANNED, relationships: [5] } },
    { planned: { ...PLANNED, missing: 'all' } },
    { planned: PLANNED, awaits: [null] },
    { planned: PLANNED, awaits: [{ ...AWAITED, documentId: '' }] },
    { planned: PLANNED, state: 'first' },
    { planned: PLANNED, from: 'first' },
    { planned: PLANNED, only: 5 },
    { planned: PLANNED, kept: [5] },
    { planned: PLANNED, valid: 5 },
    { planned: PLANNED, rerun: { lanes: 5 } },
  ],
};

/** Payloads of the right shape that name nothing of their session. */
const STRAY = { PLAN: [{ stage: 'x', iteration: 1 }], RENDER: [{ identity: 'x' }] };

type Row = { readonly type: string; readonly payload: unknown };

const rowsOf = (payloads: Readonly<Record<string, readonly unknown[]>>): Row[] =>
  Object.entries(payloads).flatMap(([type, list]) => list.map((payload) => ({ type, payload })));

describeOnBoth('jobs that a tenant has written by itself', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  /** Writes the jobs past the program, lets a worker do them and returns how each ended. */
  async function work(rows: readonly Row[]) {
    const unheard: unknown[] = [];
    const hear = (reason: unknown): number => unheard.push(reason);
    process.on('unhandledRejection', hear);
    onTestFinished(() => void process.off('unhandledRejection', hear));
    const [sessionId, runId, laneId] = [newId(), newId(), newId()];
    await database.asTenant(tenantId, async (tx) => {
      await tx.query('insert into sessions (tenant_id, id) values ($1, $2)', [tenantId, sessionId]);
      await tx.query(
        `insert into stage_runs (tenant_id, id, session_id, iteration, stage_key)
         values ($1, $2, $3, 1, 'thesis')`,
        [tenantId, runId, sessionId],
      );
      for (const { type, payload } of rows) {
        const place = type === 'PLAN' ? ['lane', runId, laneId] : ['step', null, null];
        await tx.query(
          `insert into jobs (tenant_id, id, session_id, job_type, status, chain_id, payload,
             role, stage_run_id, lane_id)
           values ($1, $2, $3, $4, 'pending', $2, $5::jsonb, $6, $7, $8)`,
          [tenantId, newId(), sessionId, type, JSON.stringify(payload), ...place],
        );
      }
    });
    const config = readModelsConfig({});
    const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
    const settings = { ...DEFAULT_JOB_SETTINGS, firstRetryMs: 1, longestRetryMs: 1 };
    const read = () =>
      database.asTenant(tenantId, (tx) =>
        tx.query<{ status: string; code: string; said: string }>(
          `select status, error->>'code' as code, job_type || ' ' || payload as said
           from jobs where session_id = $1 order by seq`,
          [sessionId],
        ),
      );
    const ended = await withWorker(
      database,
      handlers,
      async () => {
        const isOver = async () => (await read()).every(({ status }) => status === 'failed');
        await expect.poll(isOver, { interval: 50, timeout: 20_000 }).toBe(true);
        return read();
      },
      { settings },
    );
    await new Promise(setImmediate);
    return { ended, unheard };
  }

  test('fail by name where their payload has another shape, and end no worker', async () => {
    const { ended, unheard } = await work(rowsOf(ODD));
    expect(ended.filter(({ code }) => code !== 'job_payload_invalid')).toEqual([]);
    expect(unheard).toEqual([]);
  });

  test('fail where they name what is not there, and end no worker', async () => {
    const stray = {
      ...STRAY,
      EXECUTE: [{ planned: PLANNED }, { planned: PLANNED, awaits: [AWAITED] }],
    };
    const { ended, unheard } = await work(rowsOf(stray));
    expect(ended).toHaveLength(4);
    expect(unheard).toEqual([]);
  });
});
