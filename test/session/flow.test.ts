import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import { optionLabel, rivalsByLabel } from '../../src/planning/deal-labels.ts';
import { expectedCounts } from '../../src/planning/expected-counts.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { approveStage, iterateSession } from '../../src/session/advance.ts';
import { chooseLaneByHand } from '../../src/session/converge.ts';
import { addFeedback } from '../../src/session/feedback.ts';
import { readSession } from '../../src/session/read.ts';
import { type NewRun, startRun } from '../../src/session/start.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const softwarePlan = shipped('software-plan');
const memo = shipped('decision-memo');

describeOnBoth('a session', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const start = (run: Partial<NewRun>) =>
    database.asTenant(tenantId, (tx) =>
      startRun(tx, {
        name: 'A project',
        brief: 'Build a thing that helps people.',
        process: memo,
        models: ['x/a', 'x/b'],
        ...run,
      }),
    );
  const read = (sessionId: string) =>
    database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
  const countSteps = (sessionId: string) =>
    database.asTenant(tenantId, (tx) =>
      tx.query<{ step: string; n: number }>(
        `select payload->'planned'->>'stage' || '/' || step_key as step, count(*) as n from jobs
         where session_id = $1 and job_type = 'EXECUTE' group by 1`,
        [sessionId],
      ),
    );

  test('opens a stage with the roots of its lanes, for which its job waits', async () => {
    const { sessionId } = await start({});
    const jobs = await database.asTenant(tenantId, (tx) =>
      tx.query(
        `select role, status, parent_job_id is not null as "isChild" from jobs
         where session_id = $1 order by seq`,
        [sessionId],
      ),
    );
    const root = { role: 'lane', status: 'pending', isChild: true };
    expect(jobs).toEqual([
      { role: 'stage', status: 'waiting_for_children', isChild: false },
      root,
      root,
    ]);
  });

  // PGlite takes three times as long; the widths differ in nothing that it would do in another way.
  const others: [number, number][] =
    kind === 'server'
      ? [
          [2, 104],
          [3, 237],
        ]
      : [];
  test.each([[1, 33], ...others])(
    'of the software plan with %i models makes exactly %i calls',
    async (lanes, calls) => {
      const models = Array.from({ length: lanes }, (_, n) => `x/model-${n}`);
      const { sessionId } = await start({ process: softwarePlan, models });
      await runUntil(database, { tenantId, sessionId }, 'completed');
      const predicted = expectedCounts(softwarePlan, lanes);
      const called = new Set(
        predicted.steps.filter((one) => one.calls > 0).map((one) => `${one.stage}/${one.step}`),
      );
      const rows = (await countSteps(sessionId)).filter(({ step }) => called.has(step));
      const made = Object.fromEntries(rows.map((row) => [row.step, row.n]));
      expect(made).toEqual(
        Object.fromEntries(
          predicted.steps
            .filter((step) => step.calls > 0)
            .map((step) => [`${step.stage}/${step.step}`, step.calls]),
        ),
      );
      expect(rows.reduce((sum, row) => sum + row.n, 0)).toBe(calls);
    },
    120_000,
  );

  test('stops for review after every stage, takes feedback and goes on', async () => {
    const { sessionId } = await start({ reviewStages: true });
    const given: string[] = [];
    const execute = writeTrivially((planned) => {
      given.push(...planned.inputs.filter(({ ids }) => ids.length > 0).map(({ name }) => name));
      return {};
    });
    for (const stage of memo.stages.slice(0, -1)) {
      await runUntil(database, { tenantId, sessionId }, 'awaiting_review', execute);
      await database.asTenant(tenantId, (tx) =>
        addFeedback(tx, sessionId, { stageKey: stage.key, text: 'Think of the users.' }),
      );
      await database.asTenant(tenantId, (tx) => approveStage(tx, sessionId));
    }
    await runUntil(database, { tenantId, sessionId }, 'completed', execute);
    await expect(
      database.asTenant(tenantId, (tx) => approveStage(tx, sessionId)),
    ).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(given.some((name) => name.includes('feedback'))).toBe(true);
  });

  test('fails where a lane fails, and a retry repeats nothing that succeeded', async () => {
    const { sessionId } = await start({});
    let broken = true;
    const runs = new Map<string, number>();
    const execute = writeTrivially((planned) => {
      runs.set(planned.identity, (runs.get(planned.identity) ?? 0) + 1);
      if (broken && planned.stage === 'propose' && planned.identity.endsWith('/2')) {
        throw new DialecticError('usage_invalid', 'this lane is broken');
      }
      return {};
    });
    await runUntil(database, { tenantId, sessionId }, 'failed', execute);
    broken = false;
    await database.asTenant(tenantId, (tx) => retrySession(tx, sessionId));
    await runUntil(database, { tenantId, sessionId }, 'completed', execute);
    const repeated = [...runs].filter(([, n]) => n > 1).map(([identity]) => identity);
    expect(repeated.length).toBe(1);
    expect(repeated[0]).toContain('propose');
  });

  test('goes on without a failed lane where that is allowed', async () => {
    const { sessionId } = await start({ allowDegraded: true, models: ['x/a', 'x/b', 'x/c'] });
    const execute = writeTrivially((planned) => {
      const third = planned.stage === 'propose' && planned.identity.includes('/3');
      if (third) throw new DialecticError('usage_invalid', 'this lane is broken');
      return {};
    });
    await runUntil(database, { tenantId, sessionId }, 'completed', execute);
    const rows = await database.asTenant(tenantId, (tx) =>
      tx.query('select stage_key, degraded from stage_runs where session_id = $1 and degraded', [
        sessionId,
      ]),
    );
    expect(rows).toContainEqual({ stage_key: 'propose', degraded: true });
  });

  test('chooses the lane that the rankings name, unless a person does', async () => {
    const { sessionId } = await start({ models: ['x/a', 'x/b'] });
    const second = (await read(sessionId)).lanes[1]!;
    const execute = writeTrivially(async (planned: PlannedJob) => {
      if (planned.documentKey !== memo.convergence!.ballots.documentKey) return {};
      const [own] = await database.asTenant(tenantId, (tx) =>
        tx.query<{ id: string }>(
          `select id from documents where session_id = $1 and document_key = 'decision'
             and lane_id = $2`,
          [sessionId, second.id],
        ),
      );
      // The labels are shuffled for each ballot; the ids stand in their order.
      const best = rivalsByLabel(memo, planned.inputs).indexOf(own!.id);
      const order = [best, 1 - best].map((at) => optionLabel(at));
      return { rankings: order.map((label, at) => ({ option_id: label, rank: at + 1 })) };
    });
    await runUntil(database, { tenantId, sessionId }, 'completed', execute);
    const session = await read(sessionId);
    expect(session.chosenBy).toBe('ballots');
    expect(session.lanes.find((lane) => lane.id === session.chosenLaneId)!.ordinal).toBe(2);
    await database.asTenant(tenantId, (tx) => chooseLaneByHand(tx, session, 1));
    const after = await read(sessionId);
    expect(after.lanes.find((lane) => lane.id === after.chosenLaneId)!.ordinal).toBe(1);
  });

  test('has a second pass that reads what the first one made', async () => {
    const process = kind === 'server' ? softwarePlan : memo;
    const { sessionId } = await start({ process, models: ['x/a'] });
    await runUntil(database, { tenantId, sessionId }, 'completed');
    const previous = new Set<string>();
    await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
    const execute = writeTrivially((planned) => {
      const names = planned.inputs.filter(({ ids }) => ids.length > 0).map(({ name }) => name);
      for (const name of names) previous.add(name);
      return {};
    });
    await runUntil(database, { tenantId, sessionId }, 'completed', execute);
    const rows = await database.asTenant(tenantId, (tx) =>
      tx.query<{ n: number }>(
        `select count(*) as n from documents d, jsonb_array_elements(d.inputs) i,
           jsonb_array_elements_text(i->'ids') id
         join documents s on s.id = id::uuid
         where d.session_id = $1 and d.iteration = 2 and s.iteration = 1`,
        [sessionId],
      ),
    );
    expect(rows[0]!.n).toBeGreaterThan(0);
  });

  test('with nothing to run on is refused by name', async () => {
    const bad: Partial<NewRun>[] = [
      { models: [] },
      { brief: '  ' },
      { untilStage: 'nowhere' },
      { writer: 3 },
    ];
    for (const run of bad)
      await expect(start(run)).rejects.toMatchObject({ code: 'usage_invalid' });
  });
});
