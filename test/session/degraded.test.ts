import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openNotices } from '../../src/db/notices.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import type { Loss, PlannedJob } from '../../src/planning/types.ts';
import type { Process, Step } from '../../src/recipe/types.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { type NewRun, startRun } from '../../src/session/start.ts';
import { summarise } from '../../src/session/summary.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const softwarePlan = shipped('software-plan');
const withPolicy = (process: Process, policy: Partial<Step>, only?: string): Process => ({
  ...process,
  stages: process.stages.map((one) => ({
    ...one,
    steps: one.steps.map((each) =>
      only === undefined || each.key === only ? { ...each, ...policy } : each,
    ),
  })),
});

/** Each lane plans and drafts; each then judges the drafts of all lanes. */
const debate = (draft: Partial<Step>, judge: Partial<Step>): Process =>
  processOf('debate', [
    stage('write', [
      step('plan', 'PLAN', 'all_to_one', 'frame', ['seed:write/'], draft),
      step('draft', 'EXECUTE', 'all_to_one', 'draft', ['header:write/frame'], draft),
      step('judge', 'EXECUTE', 'all_to_one', 'verdict', ['doc:write/draft*@all'], judge),
    ]),
    stage('end', [step('sum', 'EXECUTE', 'all_to_one', 'sum', ['doc:write/verdict'], draft)]),
  ]);

const ANY = { dependencyPolicy: 'any' } as const;
const QUORUM = { dependencyPolicy: 'quorum', quorum: 2 } as const;
const laneOf = (planned: PlannedJob): number => Number(planned.identity.split('/')[3]);

describe('a run that goes on without something', () => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore('server');
    ({ tenantId } = await newTenant(database));
  });

  /** Runs until the status; jobs that `breaks` names fail for good. */
  async function play(
    run: Pick<NewRun, 'process'> & Partial<NewRun>,
    status: 'completed' | 'failed',
    breaks: (planned: PlannedJob) => boolean,
    lanes = 3,
  ) {
    const models = Array.from({ length: lanes }, (_, n) => `x/model-${n + 1}`);
    const brief = 'Build a thing that helps people.';
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, { name: 'P', brief, models, ...run }),
    );
    const rests = status === 'completed' && run.untilStage ? 'awaiting_review' : status;
    return resume({ tenantId, sessionId }, rests, breaks);
  }

  const countPending = (sessionId: string, laneId: string) =>
    database.asTenant(tenantId, async (tx) => {
      const { n } = await tx.queryOne<{ n: number }>(
        `select count(*) as n from jobs where session_id = $1 and lane_id = $2
           and job_type = 'EXECUTE' and status = 'pending'`,
        [sessionId, laneId],
      );
      return n;
    });

  async function resume(
    place: { tenantId: string; sessionId: string },
    status: string,
    breaks: (planned: PlannedJob) => boolean,
  ) {
    const { sessionId } = place;
    const execute = writeTrivially(async (planned) => {
      if (!breaks(planned)) return { text: planned.identity };
      // What has not started would be cancelled with it, and which that is is chance.
      await expect.poll(() => countPending(sessionId, planned.laneId)).toBe(0);
      throw new DialecticError('model_refused', 'The model will not.');
    });
    await runUntil(database, place, status, execute);
    return database.asTenant(tenantId, async (tx) => {
      const session = await readSession(tx, sessionId);
      const exported = await exportSession(tx, session);
      const rows = await tx.query<{ stage: string; step: string; lane: number; missing: Loss[] }>(
        `select d.stage_key as stage, d.step_key as step, l.ordinal as lane, d.missing
         from documents d join lanes l on l.id = d.lane_id where d.session_id = $1`,
        [sessionId],
      );
      const notices = (await openNotices(tx)).filter(
        ({ topic, code }) => topic === `session/${sessionId}` && code === 'run_degraded',
      );
      const [planned] = await tx.query<{ n: number }>(
        `select count(*) as n from jobs where session_id = $1 and job_type = 'EXECUTE'
           and payload->'planned' ? 'missing'`,
        [sessionId],
      );
      const [stageError] = await tx.query<{ code: string }>(
        `select error->>'code' as code from jobs where session_id = $1 and lane_id is null
           and error is not null`,
        [sessionId],
      );
      const result = await summarise(tx, session, exported);
      const settings = JSON.parse(exported.files.get('project_settings.json')!);
      const readme = exported.files.get('project_readme.md')!;
      const plannedMissing = planned!.n;
      return { exported, rows, notices, result, settings, readme, plannedMissing, stageError };
    });
  }

  test('names a lane that failed in thesis in every later document, export and notice', async () => {
    const broken = (planned: PlannedJob): boolean =>
      planned.step === 'thesis_generate_business_case' && laneOf(planned) === 3;
    const run = { process: softwarePlan, allowDegraded: true };
    const left = await play(run, 'completed', broken);
    const loss = {
      iteration: 1,
      stage: 'thesis',
      step: 'thesis_generate_business_case',
      document: 'business_case',
      lane: 3,
      error: { code: 'model_refused', message: 'The model will not.' },
    };
    expect(left.rows.filter((row) => row.stage === 'thesis' && row.missing.length > 0)).toEqual([]);
    const later = left.rows.filter((row) => row.stage !== 'thesis');
    expect(new Set(later.map((row) => row.stage)).size).toBe(4);
    for (const row of later)
      expect(row.missing, row.step).toContainEqual(expect.objectContaining(loss));
    expect(left.plannedMissing).toBe(later.length);
    expect(left.result).toMatchObject({ degraded: true });
    expect(left.result.missing).toContainEqual(expect.objectContaining(loss));
    expect(left.settings).toMatchObject({ degraded: true, missing: left.result.missing });
    const sentence = 'Proposal, lane 3 (x/model-3): Business Case not written';
    for (const text of [left.readme, left.result.missingText.join(), left.notices[0]!.message]) {
      expect(text).toContain(sentence);
      expect(text).toContain('The model will not. (model_refused)');
    }
    expect(left.notices).toHaveLength(1);
    const plan = left.exported.documents.find(({ key }) => key === 'updated_master_plan')!;
    const file = JSON.parse(left.exported.files.get(plan.dataPath)!);
    expect(file['_missing']).toContainEqual(expect.objectContaining(loss));
    // The lane comes back in the next stage: it can judge the proposals of the others.
    expect(later.filter((row) => row.lane === 3).map((row) => row.stage)).toContain('paralysis');
  }, 120_000);

  test.each([
    ['any', ANY],
    ['quorum', QUORUM],
  ])(
    'goes on under %s on every step of the shipped process, without leave',
    async (_, policy) => {
      const process = withPolicy(softwarePlan, policy);
      const broken = (planned: PlannedJob): boolean =>
        planned.step === 'thesis_build_stage_header' && laneOf(planned) === 2;
      const left = await play({ process, untilStage: 'antithesis' }, 'completed', broken);
      const critiques = left.rows.filter((row) => row.stage === 'antithesis');
      // Three lanes review the two proposals that there are.
      expect(critiques).toHaveLength(3 * 2 * 7);
      for (const { missing } of critiques) {
        expect(missing.map(({ document, lane }) => [document, lane])).toContainEqual([
          'feature_spec',
          2,
        ]);
      }
      expect(left.result.missing.every(({ error }) => error?.code === 'model_refused')).toBe(true);
    },
    120_000,
  );

  test('fails where fewer lanes than the quorum came through', async () => {
    const process = withPolicy(softwarePlan, QUORUM);
    const broken = (planned: PlannedJob): boolean =>
      planned.stage === 'thesis' && laneOf(planned) > 1;
    const left = await play({ process }, 'failed', broken);
    expect(left.stageError).toEqual({ code: 'stage_incomplete' });
    expect(left.result).toMatchObject({ degraded: false, missing: [] });
    expect(left.readme).not.toContain('degraded');
  }, 120_000);

  test.each([
    ['drafts any, judges all', debate(ANY, {}), 'completed', 1],
    ['drafts all, judges any', debate({}, ANY), 'completed', 1],
    ['drafts any, judges a quorum of 2', debate(ANY, QUORUM), 'completed', 1],
    ['drafts any, judges a quorum of 2, two lanes lost', debate(ANY, QUORUM), 'failed', 2],
    ['drafts all, judges all', debate({}, {}), 'failed', 1],
  ] as const)(
    'at a barrier of all lanes: %s',
    async (_, process, status, lost) => {
      const broken = ({ step: key, ...planned }: PlannedJob): boolean =>
        key === 'draft' && laneOf(planned as PlannedJob) > 3 - lost;
      const left = await play({ process }, status, broken);
      const judged = left.rows.filter((row) => row.step === 'judge' || row.step === 'sum');
      expect(judged).toHaveLength(status === 'completed' ? 4 : 0);
      for (const { missing } of judged) {
        expect(missing).toEqual([
          {
            iteration: 1,
            stage: 'write',
            step: 'draft',
            document: 'draft',
            lane: 3,
            lineage: expect.any(String),
            error: { code: 'model_refused', message: 'The model will not.' },
          },
        ]);
      }
      expect(left.notices.length > 0).toBe(status === 'completed');
    },
    120_000,
  );

  test('does not go back for what it left behind when it is resumed later on', async () => {
    const tried: string[] = [];
    let broken = true;
    const breaks = (planned: PlannedJob): boolean => {
      tried.push(`${planned.step} ${laneOf(planned)}`);
      return (
        (planned.step === 'draft' && laneOf(planned) === 3) || (broken && planned.stage === 'end')
      );
    };
    const run = { process: debate({}, {}), allowDegraded: true };
    const { result } = await play(run, 'failed', breaks);
    broken = false;
    const place = { tenantId, sessionId: result.session };
    await database.asTenant(tenantId, (tx) => retrySession(tx, result.session));
    const left = await resume(place, 'completed', breaks);
    expect(tried.filter((one) => one === 'draft 3')).toHaveLength(1);
    expect(tried.filter((one) => one === 'sum 1')).toHaveLength(2);
    expect(left.result.missing).toContainEqual(expect.objectContaining({ step: 'draft', lane: 3 }));
  }, 120_000);

  test('loses one job of a fan-out under any: only what reads it says so', async () => {
    const key = 'synthesis_pairwise_business_case';
    const process = withPolicy(softwarePlan, ANY, key);
    let left = 1;
    const broken = (planned: PlannedJob): boolean =>
      planned.step === key && laneOf(planned) === 1 && left-- > 0;
    const outcome = await play({ process, untilStage: 'synthesis' }, 'completed', broken, 2);
    const degraded = outcome.rows.filter((row) => row.missing.length > 0);
    expect(new Set(degraded.map((row) => row.lane))).toEqual(new Set([1]));
    expect(degraded.map((row) => row.step)).toContain('synthesis_document_business_case');
    expect(degraded.map((row) => row.step)).toContain('product_requirements');
    expect(degraded.map((row) => row.step)).not.toContain('synthesis_document_feature_spec');
    expect(outcome.result.missing).toMatchObject([{ step: key, lane: 1 }]);
  }, 120_000);

  test('is not called degraded when nothing is missing', async () => {
    const process = shipped('decision-memo');
    const left = await play({ process, allowDegraded: true }, 'completed', () => false);
    expect(left.rows.flatMap(({ missing }) => missing)).toEqual([]);
    expect(left).toMatchObject({ notices: [], plannedMissing: 0 });
    expect(left.result).toMatchObject({ degraded: false, missing: [], missingText: [] });
    expect(left.settings).toMatchObject({ degraded: false, missing: [] });
    expect(left.readme).not.toMatch(/degraded|missing/i);
    for (const [path, text] of left.exported.files) expect(text, path).not.toContain('_missing');
  }, 120_000);
});
