import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { shipped } from '../../test/recipes/shipped.ts';
import { insertStage } from '../recipe/edit.ts';
import type { Process, Step } from '../recipe/types.ts';
import { validateProcess } from '../recipe/validate.ts';
import { expectedCounts } from './expected-counts.ts';
import { planStep } from './plan-step.ts';
import { simulateProcess, toDocument } from './simulate.ts';
import type { Lane, Loss, PlanRequest, SourceDocument } from './types.ts';
import { validateForRun } from './validate-for-run.ts';

const lanesOf = (count: number): Lane[] =>
  Array.from({ length: count }, (_, at) => ({ id: `lane-${at + 1}`, ordinal: at + 1 }));

const execute = (key: string, granularity: Step['granularity'], inputs: string[]) =>
  step(key, 'EXECUTE', granularity, key, inputs);

/** Theses, critiques by every lane, then the map-reduce: pairs, groups, one. */
function mapReduce(): Process {
  return processOf('map-reduce', [
    stage('thesis', [execute('proposal', 'all_to_one', ['seed:thesis/'])]),
    stage('antithesis', [execute('critique', 'per_source_document', ['doc:thesis/proposal@all'])]),
    stage('synthesis', [
      step(
        'pair',
        'EXECUTE',
        'pairwise_by_origin',
        'pair',
        ['doc:thesis/proposal=1@all', 'doc:antithesis/critique=0.9@all'],
        { forEach: 'proposal' },
      ),
      execute('reduced', 'per_source_group', ['contrib:synthesis/pair*']),
      execute('final', 'all_to_one', ['contrib:synthesis/reduced*']),
    ]),
  ]);
}

const document = (over: Partial<SourceDocument> & { id: string }): SourceDocument => ({
  identity: over.id,
  kind: 'document',
  stage: 'a',
  documentKey: 'x',
  iteration: 1,
  laneId: 'lane-1',
  contributionId: over.id,
  sourceGroup: over.id,
  relationships: {},
  ...over,
});

const request = (process: Process, over: Partial<PlanRequest>): PlanRequest => ({
  process,
  stageKey: 'b',
  stepKey: 's',
  lane: { id: 'lane-1', ordinal: 1 },
  lanes: lanesOf(2),
  iteration: 1,
  documents: [],
  ...over,
});

/** Stage a makes x and y in each lane; stage b has the one step under test. */
const twoStages = (granularity: Step['granularity'], inputs: string[], more: Partial<Step> = {}) =>
  processOf('two', [
    stage('a', [
      step('x', 'EXECUTE', 'all_to_one', 'x', ['seed:a/']),
      step('y', 'EXECUTE', 'all_to_one', 'y', ['seed:a/']),
    ]),
    stage('b', [step('s', 'EXECUTE', granularity, 's', inputs, more)]),
  ]);

describe('the map-reduce recipe', () => {
  const jobs = simulateProcess(mapReduce(), 2);
  const of = (key: string, laneId: string) =>
    jobs.filter((job) => job.step === key && job.laneId === laneId);

  test('is valid', () => expect(validateForRun(mapReduce(), 2)).toEqual([]));

  test('two theses and four critiques give 4, 2 and 1 jobs in each lane', () => {
    expect(jobs.filter((job) => job.stage === 'antithesis')).toHaveLength(4);
    for (const { id } of lanesOf(2)) {
      expect(of('pair', id)).toHaveLength(4);
      expect(of('reduced', id)).toHaveLength(2);
      expect(of('final', id)).toHaveLength(1);
    }
  });

  test('a pair holds one thesis and the critique of that thesis by one lane', () => {
    const byId = new Map(jobs.map((job) => [job.identity, job]));
    const pairs = of('pair', 'lane-2').map((job) => {
      const [origin, answer] = job.inputs.map((one) => byId.get(one.ids[0]!)!);
      expect(answer!.inputIds).toEqual([origin!.identity]);
      return `${origin!.laneId} by ${answer!.laneId}`;
    });
    expect(pairs).toEqual([
      'lane-1 by lane-1',
      'lane-1 by lane-2',
      'lane-2 by lane-1',
      'lane-2 by lane-2',
    ]);
  });

  test('groups keep the lineage of their thesis and the last step starts a new one', () => {
    const reduced = of('reduced', 'lane-1');
    expect(new Set(reduced.map((job) => job.sourceGroup))).toEqual(
      new Set(['1/thesis/proposal/1', '1/thesis/proposal/2']),
    );
    expect(reduced.map((job) => job.inputIds.length)).toEqual([2, 2]);
    expect(of('final', 'lane-1')[0]).toMatchObject({ sourceGroup: null });
  });
});

describe('planStep', () => {
  test('does not depend on the order in which documents arrive', () => {
    const process = shipped('software-plan');
    const documents = simulateProcess(process, 3).map(toDocument);
    const plan = (order: readonly SourceDocument[]) =>
      process.stages[2]!.steps.slice(1, 9).map(({ key }) =>
        planStep(
          request(process, {
            stageKey: 'synthesis',
            stepKey: key,
            lanes: lanesOf(3),
            documents: order,
          }),
        ),
      );
    expect(plan(documents.toReversed())).toEqual(plan(documents));
  });

  test('orders inputs by lane and place in the debate, not by random ids', () => {
    const process = twoStages('all_to_one', ['doc:a/x*@all']);
    const documents = [
      document({ id: 'zz', identity: '1/a/x/1', laneId: 'lane-1' }),
      document({ id: 'aa', identity: '1/a/x/2', laneId: 'lane-2' }),
    ];
    const [job] = planStep(request(process, { documents })).jobs;
    expect(job!.inputs).toEqual([{ name: 'x', ids: ['zz', 'aa'] }]);
    expect(job!.inputIds).toEqual(['aa', 'zz']);
  });

  test('takes own documents under scope own, and the previous pass where it is asked for', () => {
    const process = twoStages('all_to_one', ['doc:a/x', 'doc:a/y?@previous']);
    const documents = [
      document({ id: 'mine' }),
      document({ id: 'theirs', laneId: 'lane-2' }),
      document({ id: 'old', documentKey: 'y', iteration: 0 }),
      document({ id: 'new', documentKey: 'y' }),
    ];
    const [job] = planStep(request(process, { documents })).jobs;
    expect(job!.inputIds).toEqual(['mine', 'old']);
  });

  test('per_model starts a new lineage even where its inputs share one', () => {
    const process = twoStages('per_model', ['doc:a/x']);
    const [job] = planStep(request(process, { documents: [document({ id: 'd' })] })).jobs;
    expect(job).toMatchObject({ sourceGroup: null, anchor: { status: 'no_anchor_required' } });
  });

  test('per lineage, the seed prompt joins each group and feedback its own', () => {
    const process = twoStages('per_source_document_by_lineage', [
      'seed:b/',
      'doc:a/x=1@all',
      'doc:a/y=0.9@all',
      'fb:a/x?@all',
    ]);
    const pair = (lane: string) => [
      document({ id: `x${lane}`, laneId: `lane-${lane}`, sourceGroup: `g${lane}` }),
      document({
        id: `y${lane}`,
        laneId: `lane-${lane}`,
        sourceGroup: `g${lane}`,
        documentKey: 'y',
      }),
    ];
    const given = { contributionId: null, sourceGroup: null, laneId: null };
    const documents = [
      ...pair('1'),
      ...pair('2'),
      document({ id: 'seed', kind: 'seed_prompt', stage: 'b', documentKey: null, ...given }),
      document({
        id: 'note',
        kind: 'feedback',
        laneId: 'lane-2',
        sourceGroup: 'g2',
        contributionId: null,
      }),
    ];
    const { jobs } = planStep(request(process, { documents }));
    expect(jobs.map((job) => job.inputIds)).toEqual([
      ['seed', 'x1', 'y1'],
      ['note', 'seed', 'x2', 'y2'],
    ]);
    expect(jobs.map((job) => job.sourceGroup)).toEqual(['g1', 'g2']);
  });

  test('refuses a lineage that lacks a required input', () => {
    const process = twoStages('per_source_document_by_lineage', [
      'doc:a/x=1@all',
      'doc:a/y=0.9@all',
    ]);
    const documents = [
      document({ id: 'x1', sourceGroup: 'g1' }),
      document({ id: 'y1', sourceGroup: 'g1', documentKey: 'y' }),
      document({ id: 'x2', sourceGroup: 'g2', laneId: 'lane-2' }),
      document({ id: 'y2', sourceGroup: 'g1', laneId: 'lane-2', documentKey: 'y' }),
    ];
    expect(() => planStep(request(process, { documents }))).toThrow(
      'Step b/s: the input y for lineage g2 is not there.',
    );
  });

  test('refuses two documents where one was asked for', () => {
    const process = twoStages('all_to_one', ['doc:a/x@all']);
    const documents = [document({ id: 'x1' }), document({ id: 'x2', laneId: 'lane-2' })];
    expect(() => planStep(request(process, { documents }))).toThrow(/more than once/);
    expect(validateForRun(process, 2)).toMatchObject([
      { code: 'input_ambiguous', file: 'b/stage.yaml', field: 'steps[0].inputs[0]' },
    ]);
    expect(validateForRun(process, 1)).toEqual([]);
  });

  test('finds before the run that a lineage can never match', () => {
    const process = twoStages('per_source_document', ['doc:a/x=1@all', 'doc:a/y=0.9@all'], {
      forEach: 'x',
    });
    expect(validateProcess(process)).toEqual([]);
    expect(validateForRun(process, 1)).toMatchObject([
      { code: 'input_unsatisfied', file: 'b/stage.yaml', field: 'steps[0].inputs[1]' },
    ]);
  });
});

const LOST_X: Loss = {
  iteration: 1,
  stage: 'a',
  step: 'x',
  document: 'x',
  lane: 2,
  lineage: null,
  error: { code: 'model_refused', message: 'No.' },
};

describe('dependency policies', () => {
  const inputs = ['doc:a/x*@all'];
  const documents = [document({ id: 'x1' })];

  test('all refuses when a lane is missing', () => {
    const process = twoStages('all_to_one', inputs);
    expect(() => planStep(request(process, { documents }))).toThrow(/from lane 2 is not there/);
  });

  test('any goes on and says what is missing', () => {
    const process = twoStages('all_to_one', inputs, { dependencyPolicy: 'any' });
    expect(planStep(request(process, { documents }))).toMatchObject({
      jobs: [{ inputIds: ['x1'] }],
      missing: [{ input: 'x', laneId: 'lane-2', sourceGroup: null }],
    });
    const { jobs } = planStep(request(process, { documents }));
    expect(jobs[0]!.missing).toEqual([{ ...LOST_X, error: null }]);
    expect(() => planStep(request(process, {}))).toThrow(/is not there/);
  });

  test('quorum asks for more than half unless it says how many', () => {
    const half = twoStages('all_to_one', inputs, { dependencyPolicy: 'quorum' });
    expect(() => planStep(request(half, { documents }))).toThrow(/is not there/);
    const one = twoStages('all_to_one', inputs, { dependencyPolicy: 'quorum', quorum: 1 });
    expect(planStep(request(one, { documents })).jobs).toHaveLength(1);
  });

  test('a loss excuses its lane under all, and is named in the job and in what reads it', () => {
    const process = twoStages('all_to_one', inputs);
    const { jobs } = planStep(request(process, { documents, losses: [LOST_X] }));
    expect(jobs[0]!.missing).toEqual([LOST_X]);
    const heir = { ...document({ id: 'x2' }), laneId: 'lane-2', missing: jobs[0]!.missing! };
    const later = planStep(request(process, { documents: [...documents, heir] }));
    expect(later.jobs[0]!.missing).toEqual([LOST_X]);
    const whole = planStep(
      request(process, { documents: [...documents, { ...heir, missing: [] }] }),
    );
    expect(whole.jobs[0]).not.toHaveProperty('missing');
  });

  test('a lane that takes no part in a stage owes nothing', () => {
    const process = twoStages('all_to_one', inputs);
    const stageLanes = { a: ['lane-1'] };
    expect(planStep(request(process, { documents, stageLanes })).missing).toEqual([]);
  });
});

describe('a stage that a user inserts between synthesis and parenthesis', () => {
  const review = stage('review', [
    step('weigh', 'EXECUTE', 'per_source_document_by_lineage', 'weighing', [
      'doc:synthesis/product_requirements=1@all',
      'doc:synthesis/tech_stack=0.9@all',
    ]),
    step('settle', 'EXECUTE', 'all_to_one', 'settlement', ['contrib:review/weighing*']),
  ]);
  const process = insertStage(shipped('software-plan'), review, { after: 'synthesis' });

  test('fans out over the lineages and merges, without a line of code', () => {
    expect(validateForRun(process, 3)).toEqual([]);
    expect(expectedCounts(process, 3)).toMatchObject({
      calls: 237 + 9 + 3,
      byStage: { review: 12 },
    });
    const weighings = simulateProcess(process, 3).filter((job) => job.step === 'weigh');
    expect(new Set(weighings.map((job) => job.sourceGroup)).size).toBe(3);
  });
});
