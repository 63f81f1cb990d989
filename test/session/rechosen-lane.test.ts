import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { chooseLaneByHand } from '../../src/session/converge.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { findOwedStage } from '../../src/session/reopen-stage.ts';
import { resumeRun } from '../../src/session/resume.ts';
import { startRun } from '../../src/session/start.ts';
import { withWorker } from '../engine.ts';
import { stage, step } from '../recipes/build.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { shipped } from './trivial.ts';

const write = (inStage: string, key: string, ...inputs: string[]) =>
  step(key, 'EXECUTE', 'per_source_document', key, inputs, { name: `${inStage} ${key}` });
const chosen = (key: string, ...inputs: string[]) => ({
  ...stage(key, [write(key, key, ...inputs)]),
  lanes: 'chosen' as const,
});
/** Two lanes debate and vote; the chosen one writes the result and, in its own stage, a letter. */
const memo = shipped('decision-memo');
const ends = [chosen('result', 'doc:decide/decision'), chosen('letter', 'doc:result/result')];
const process = {
  ...memo,
  stages: [...memo.stages, ...ends],
  transitions: [
    ...memo.transitions,
    { from: 'decide', to: 'result', gate: false },
    { from: 'result', to: 'letter', gate: false },
  ],
  results: [{ stage: 'result', documentKey: 'result', folder: 'decide' as const }],
};
const MODELS = ['offline/builder', 'offline/skeptic'];
const nameOf = (lane: number): string => MODELS[lane - 1]!.replace('/', '-');

describe('a lane that a person chooses after the end', () => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore('server');
    ({ tenantId } = await newTenant(database));
  });
  const read = (sessionId: string) =>
    database.asTenant(tenantId, (tx) => readSession(tx, sessionId));

  async function workUntil(sessionId: string, status: string, refused?: string): Promise<void> {
    const config = readModelsConfig({});
    const offline = createModelProvider(config);
    const provider: typeof offline = {
      ...offline,
      generate: async (request, options) => {
        if (request.model !== refused) return offline.generate(request, options);
        throw new DialecticError('model_refused', 'Not today.');
      },
    };
    await withWorker(database, createHandlers({ database, config, provider }), () =>
      expect
        .poll(async () => (await read(sessionId)).status, { timeout: 60_000, interval: 50 })
        .toBe(status),
    );
  }

  /** A finished run, with the lane that the ballots chose and the other one. */
  async function startAndFinish() {
    const brief = 'A web shop for a bakery.';
    const run = { name: 'P', brief, process, models: MODELS };
    const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
    await workUntil(sessionId, 'completed');
    const { lanes, chosenLaneId } = await read(sessionId);
    const first = lanes.find(({ id }) => id === chosenLaneId)!.ordinal;
    return { sessionId, first, other: 3 - first };
  }
  const choose = async (sessionId: string, lane: number) =>
    database.asTenant(tenantId, async (tx) => {
      await chooseLaneByHand(tx, await readSession(tx, sessionId), lane);
      return findOwedStage(tx, await readSession(tx, sessionId));
    });
  const written = async (sessionId: string) => {
    const rows = await database.asTenant(tenantId, (tx) =>
      tx.query<{ at: string }>(
        `select d.stage_key || '@' || l.ordinal as at from documents d
         join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
         where d.session_id = $1 and d.stage_key in ('result', 'letter') order by d.id`,
        [sessionId],
      ),
    );
    return rows.map(({ at }) => at);
  };
  const exported = async (sessionId: string) =>
    database.asTenant(tenantId, async (tx) => exportSession(tx, await readSession(tx, sessionId)));

  test('writes the stages of the chosen lane, and the folder follows it', async () => {
    const { sessionId, first, other } = await startAndFinish();
    const before = (await exported(sessionId)).files;
    expect(before.get('decide/anything.md')).toContain(nameOf(first));
    expect(await choose(sessionId, other)).toBe('result');
    const between = (await exported(sessionId)).files;
    expect(between.has('decide/anything.md')).toBe(false);
    expect(between.get('project_readme.md')).toContain(
      `wrote the stage result; \`dialectic resume ${sessionId}\` lets lane ${other} write its own.`,
    );

    await database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId));
    await workUntil(sessionId, 'completed');
    const after = (await exported(sessionId)).files;
    expect(after.get('decide/anything.md')).toContain(nameOf(other));
    expect(after.get('decide/anything.md')).not.toBe(before.get('decide/anything.md'));
    expect(after.get('project_readme.md')).not.toContain('Another lane wrote');
    const lastOf = (lane: number) => [`result@${lane}`, `letter@${lane}`];
    expect(await written(sessionId)).toEqual([...lastOf(first), ...lastOf(other)]);

    // Back to the first lane: all is there, so nothing is owed and nothing runs.
    expect(await choose(sessionId, first)).toBeUndefined();
    await expect(
      database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId)),
    ).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('dialectic iterate') as string,
    });
    expect((await exported(sessionId)).files.get('decide/anything.md')).toBe(
      before.get('decide/anything.md'),
    );
  }, 120_000);

  test('and fails is tried again by the next resume', async () => {
    const { sessionId, other } = await startAndFinish();
    await choose(sessionId, other);
    await database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId));
    await workUntil(sessionId, 'failed', MODELS[other - 1]);
    await database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId));
    await workUntil(sessionId, 'completed');
    const places = await written(sessionId);
    expect(places.slice(-2)).toEqual([`result@${other}`, `letter@${other}`]);
    expect(places.length).toBe(4);
  }, 120_000);
});
