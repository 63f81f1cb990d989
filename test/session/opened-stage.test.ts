import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { planStart } from '../../src/handlers/plan-wave.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import type { Process } from '../../src/recipe/types.ts';
import { approveStage } from '../../src/session/advance.ts';
import { addFeedback } from '../../src/session/feedback.ts';
import type { PlanStart } from '../../src/session/open-stage.ts';
import { type NewRun, startRun } from '../../src/session/start.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

/** The second stage reads what all lanes wrote in the first one, its own prompt and what people say. */
const debate = processOf('debate', [
  stage('a', [
    step('draft', 'EXECUTE', 'all_to_one', 'draft', ['seed:a/']),
    step('improve', 'EXECUTE', 'per_source_document', 'better', ['doc:a/draft']),
  ]),
  stage('b', [
    step('frame', 'PLAN', 'all_to_one', 'frame', ['seed:b/', 'doc:a/better*@all']),
    step('judge', 'EXECUTE', 'all_to_one', 'verdict', [
      'doc:a/better*=0.5@all',
      'header:b/frame',
      'fb:a/*?',
    ]),
  ]),
  stage('c', [
    step('own', 'EXECUTE', 'all_to_one', 'own', ['seed:c/']),
    step('all', 'EXECUTE', 'all_to_one', 'all', ['doc:c/own*@all']),
  ]),
]);

/** In the second stage a lane needs what it wrote itself in the first. */
const owing = processOf('owing', [
  stage('a', [step('draft', 'EXECUTE', 'all_to_one', 'draft', ['seed:a/'])]),
  stage('b', [step('sum', 'EXECUTE', 'all_to_one', 'sum', ['doc:a/draft'])]),
]);

type Root = { stage: string; lane: number; status: string; hasRun: boolean; code: string | null };

describeOnBoth('a stage that follows another', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const start = async (process: Process, more: Partial<NewRun> = {}, plan?: PlanStart) => {
    const models = ['x/a', 'x/b'];
    const run = { name: 'P', brief: 'A thing.', process, models, ...more };
    const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run, plan));
    return { tenantId, sessionId };
  };
  const query = <Row extends object>(text: string, sessionId: string) =>
    database.asTenant(tenantId, (tx) => tx.query<Row>(text, [sessionId]));
  const rootsOf = (sessionId: string) =>
    query<Root>(
      `select r.stage_key as stage, l.ordinal as lane, j.status, j.error->>'code' as code,
         j.started_at is not null as "hasRun"
       from jobs j join stage_runs r on r.id = j.stage_run_id join lanes l on l.id = j.lane_id
       where j.session_id = $1 and j.role = 'lane' order by j.seq`,
      sessionId,
    );

  test('begins without a job that plans: its lanes wait for requests that are there', async () => {
    const place = await start(debate);
    const seen: Root[] = [];
    const note = async ({ step: key, identity }: PlannedJob) => {
      const isOwn = ({ stage: of, lane }: Root) => of === 'b' && identity.endsWith(`/${lane}`);
      if (key === 'frame') seen.push(...(await rootsOf(place.sessionId)).filter(isOwn));
      return {};
    };
    await runUntil(database, place, 'completed', writeTrivially(note));
    const root = { code: null, hasRun: false, stage: 'b', status: 'waiting_for_children' };
    expect(seen.toSorted((one, other) => one.lane - other.lane)).toEqual([
      { ...root, lane: 1 },
      { ...root, lane: 2 },
    ]);
    // Who started the run gave no plan for the first stage; in the last one lanes wait for each other.
    const ran = (await rootsOf(place.sessionId)).map(({ stage: key, hasRun }) => [key, hasRun]);
    expect(ran).toEqual(['a', 'a', 'b', 'b', 'c', 'c'].map((key) => [key, key !== 'b']));
    const told = await query<{ kind: string; status: string }>(
      `select kind, payload->>'status' as status from events where topic = 'session/' || $1
         and payload->>'type' = 'PLAN' and payload->>'stage' = 'b' and payload->>'laneId' is not null
       order by tx, id`,
      place.sessionId,
    );
    expect(told.map(({ kind, status }) => `${kind} ${status}`).toSorted()).toEqual([
      ...Array.from({ length: 2 }, () => 'job-completed completed'),
      ...Array.from({ length: 2 }, () => 'job-created waiting_for_children'),
    ]);
  });

  test('is the first one, too, where who starts the run has its lanes planned', async () => {
    const place = await start(debate, {}, planStart);
    const waiting = { code: null, hasRun: false, stage: 'a', status: 'waiting_for_children' };
    expect(await rootsOf(place.sessionId)).toEqual([
      { ...waiting, lane: 1 },
      { ...waiting, lane: 2 },
    ]);
    const planned = await query<{ step: string; status: string }>(
      `select step_key as step, status from jobs
       where session_id = $1 and job_type = 'EXECUTE' order by step, status`,
      place.sessionId,
    );
    expect(planned.map(({ step: key, status }) => `${key} ${status}`)).toEqual([
      'draft pending',
      'draft pending',
      'improve waiting_for_prerequisite',
      'improve waiting_for_prerequisite',
    ]);
    await runUntil(database, place, 'completed');
  });

  test.each([
    ['a debate', debate],
    ['the decision memo', shipped('decision-memo')],
  ])('makes of %s what lanes make that plan by themselves', async (_, process) => {
    const alone = await start(process, { reviewStages: true });
    for (const { key } of process.stages.slice(0, -1)) {
      await runUntil(database, alone, 'awaiting_review');
      await database.asTenant(tenantId, (tx) => approveStage(tx, alone.sessionId));
      expect((await rootsOf(alone.sessionId)).at(-1)?.stage).not.toBe(key);
    }
    await runUntil(database, alone, 'completed');
    const together = await start(process);
    await runUntil(database, together, 'completed');
    const roots = await rootsOf(together.sessionId);
    expect(roots.some(({ hasRun }) => !hasRun)).toBe(true);
    expect((await rootsOf(alone.sessionId)).every(({ hasRun }) => hasRun)).toBe(true);
    expect(await describeRun(together.sessionId)).toEqual(await describeRun(alone.sessionId));
  });

  test('gives its first requests the feedback that was given while the one before it ran', async () => {
    const place = await start(debate);
    const given = new Set<string>();
    const note = async ({ step: key, inputs, laneId }: PlannedJob) => {
      if (
        key === 'judge' &&
        inputs.some(({ name, ids }) => /feedback/.test(name) && ids.length > 0)
      )
        given.add(laneId);
      if (key !== 'draft') return {};
      const feedback = { stageKey: 'a', text: 'Think of the users.' };
      await database.asTenant(tenantId, (tx) => addFeedback(tx, place.sessionId, feedback));
      return {};
    };
    await runUntil(database, place, 'completed', writeTrivially(note));
    expect(given.size).toBe(2);
    const roots = await rootsOf(place.sessionId);
    expect(roots.filter(({ stage: key }) => key === 'b').map(({ hasRun }) => hasRun)).toEqual([
      false,
      false,
    ]);
  });

  test('leaves a lane that cannot be planned to its own job, which tells why', async () => {
    const models = ['x/a', 'x/b', 'x/c'];
    const place = await start(owing, { models, allowDegraded: true });
    const execute = writeTrivially(({ identity, step: key }) => {
      if (key === 'draft' && identity.endsWith('/2')) {
        throw new DialecticError('model_refused', 'It will not.');
      }
      return {};
    });
    await runUntil(database, place, 'completed', execute);
    const roots = (await rootsOf(place.sessionId)).filter(({ stage: key }) => key === 'b');
    const planned = { stage: 'b', status: 'completed', hasRun: false, code: null };
    const refused = { status: 'failed', hasRun: true, code: 'plan_inputs_missing' };
    expect(roots).toEqual([
      { ...planned, lane: 1 },
      { ...planned, ...refused, lane: 2 },
      { ...planned, lane: 3 },
    ]);
  });

  /** Jobs, steps and documents with names in the place of ids. */
  async function describeRun(sessionId: string): Promise<unknown> {
    const named = await query<{ id: string; name: string }>(
      `select id, identity as name from documents where session_id = $1
       union all select contribution_id, 'text of ' || identity from documents
         where session_id = $1 and contribution_id is not null
       union all select id, 'lane ' || ordinal from lanes where session_id = $1
       union all select id, 'job ' || document_identity from jobs
         where session_id = $1 and document_identity is not null
       union all select session_id, 'session' from lanes where session_id = $1`,
      sessionId,
    );
    const names = new Map(named.map(({ id, name }) => [id, name]));
    const rows = [
      await query<object>(
        `select lane_id, job_type, role, step_key, j.status, dependency_policy, quorum,
           concurrency_key, ends_with_children, prerequisite_job_id, idempotency_key, document_key,
           document_identity, source_group, responding_lane_id, payload, j.degraded
         from jobs j left join lanes l on l.id = j.lane_id
         left join stage_runs r on r.id = j.stage_run_id
         where j.session_id = $1 order by r.created_at, l.ordinal, j.seq`,
        sessionId,
      ),
      await query<object>(
        `select s.lane_id, s.step_key, s.state, s.degraded, r.stage_key from lane_steps s
         join stage_runs r on r.id = s.stage_run_id join lanes l on l.id = s.lane_id
         where r.session_id = $1 order by r.created_at, l.ordinal, s.step_key`,
        sessionId,
      ),
      await query<object>(
        `select kind, stage_key, lane_id, identity, version, source_group, relationships, inputs, missing
         from documents where session_id = $1 order by identity`,
        sessionId,
      ),
    ];
    return JSON.parse(JSON.stringify(rows), (key, value: unknown) => {
      if (key === 'inputIds') return (value as string[]).toSorted();
      if (typeof value !== 'string') return value;
      return value.replace(
        /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
        (id) => names.get(id) ?? '?',
      );
    });
  }
});
