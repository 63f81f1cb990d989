import { describe, expect, test } from 'vitest';
import { step } from '../../test/recipes/build.ts';
import { fiveStages } from '../../test/recipes/five-stages.ts';
import { anchorRule } from '../recipe/anchor-rule.ts';
import { settleContribution } from './anchor.ts';
import { simulateProcess, toDocument } from './simulate.ts';
import type { PlannedJob, SourceDocument } from './types.ts';

type Row = readonly [
  stage: string,
  step: string,
  status: string,
  anchor: string | null,
  /** What becomes of the lineage. */
  lineage: 'new' | 'anchor' | 'inputs',
  /** Whether the contribution is its own anchor. */
  own: boolean,
];

/** Stage, step, status, key of the anchor, lineage, own anchor: one row for each step. */
const TABLE: readonly Row[] = [
  ['thesis', 'thesis_build_stage_header', 'no_anchor_required', null, 'new', true],
  ...['business_case', 'feature_spec', 'technical_approach', 'success_metrics'].map(
    (key): Row => [
      'thesis',
      `thesis_generate_${key}`,
      'derive_from_header_context',
      'thesis/header_context',
      'anchor',
      false,
    ],
  ),
  [
    'antithesis',
    'antithesis_prepare_review',
    'anchor_found',
    'thesis/business_case',
    'anchor',
    true,
  ],
  ...(
    [
      ['business_case_critique', 'business_case'],
      ['technical_feasibility_assessment', 'feature_spec'],
      ['risk_register', 'success_metrics'],
      ['non_functional_requirements', 'technical_approach'],
      ['dependency_map', 'technical_approach'],
      ['comparison_vector', 'feature_spec'],
    ] as const
  ).map(
    ([key, anchor]): Row => [
      'antithesis',
      `antithesis_generate_${key}`,
      'anchor_found',
      `thesis/${anchor}`,
      'anchor',
      false,
    ],
  ),
  ['synthesis', 'synthesis_prepare_pairwise_header', 'no_anchor_required', null, 'new', true],
  ...['business_case', 'feature_spec', 'technical_approach', 'success_metrics'].flatMap(
    (key): Row[] => [
      ['synthesis', `synthesis_pairwise_${key}`, 'anchor_found', `thesis/${key}`, 'anchor', false],
      ['synthesis', `synthesis_document_${key}`, 'no_anchor_required', null, 'new', true],
    ],
  ),
  ['synthesis', 'generate_final_synthesis_header', 'no_anchor_required', null, 'new', true],
  ...['product_requirements', 'system_architecture', 'tech_stack'].map(
    (key): Row => ['synthesis', key, 'anchor_found', 'synthesis/header_context', 'anchor', false],
  ),
  ['parenthesis', 'build-planning-header', 'no_anchor_required', null, 'inputs', true],
  [
    'parenthesis',
    'generate-technical_requirements',
    'anchor_found',
    'synthesis/system_architecture',
    'anchor',
    false,
  ],
  [
    'parenthesis',
    'generate-master-plan',
    'anchor_found',
    'parenthesis/technical_requirements',
    'anchor',
    false,
  ],
  [
    'parenthesis',
    'generate-milestone-schema',
    'anchor_found',
    'synthesis/system_architecture',
    'anchor',
    false,
  ],
  ['paralysis', 'build-implementation-header', 'no_anchor_required', null, 'inputs', true],
  [
    'paralysis',
    'generate-actionable-checklist',
    'anchor_found',
    'parenthesis/technical_requirements',
    'anchor',
    false,
  ],
  [
    'paralysis',
    'generate-updated-master-plan',
    'anchor_found',
    'parenthesis/master_plan',
    'anchor',
    false,
  ],
  [
    'paralysis',
    'generate-advisor-recommendations',
    'anchor_found',
    'synthesis/product_requirements',
    'anchor',
    false,
  ],
];

const jobs = simulateProcess(fiveStages(), 3);
const saved = new Map<string, SourceDocument>(jobs.map((job) => [job.identity, toDocument(job)]));
const jobsOf = (stage: string, key: string): PlannedJob[] =>
  jobs.filter((job) => job.stage === stage && job.step === key);

describe('anchor and lineage of the five stages, three lanes', () => {
  test('the table has a row for each step', () => {
    expect(new Set(TABLE.map(([stage, key]) => `${stage}/${key}`)).size).toBe(33);
  });

  test.each(TABLE)('%s/%s: %s', (stage, key, status, anchorKey, lineage, own) => {
    const found = jobsOf(stage, key);
    expect(found.length).toBeGreaterThan(0);
    for (const job of found) {
      const { anchor } = job;
      const document = saved.get(job.identity)!;
      const reference = 'inputId' in anchor ? saved.get(anchor.inputId)! : undefined;
      expect(anchor.status).toBe(status);
      expect(reference ? `${reference.stage}/${reference.documentKey}` : null).toBe(anchorKey);
      expect(document.relationships[stage]).toBe(own ? job.identity : reference?.contributionId);
      if (lineage === 'new') expect(document.sourceGroup).toBe(job.identity);
      if (lineage === 'anchor') expect(document.sourceGroup).toBe(reference?.sourceGroup);
      if (lineage === 'inputs') {
        const groups = job.inputIds.map((id) => saved.get(id)?.sourceGroup).filter(Boolean);
        expect(new Set(groups)).toEqual(new Set([document.sourceGroup]));
        expect(document.sourceGroup).not.toBe(job.identity);
      }
    }
  });

  test('an anchor lies in the own lane wherever the own lane has the document', () => {
    for (const job of [
      ...jobsOf('parenthesis', 'generate-master-plan'),
      ...jobsOf('paralysis', 'generate-advisor-recommendations'),
    ]) {
      expect('inputId' in job.anchor && saved.get(job.anchor.inputId)?.laneId).toBe(job.laneId);
    }
  });

  test('relationships keep the anchors of earlier stages', () => {
    const [critique] = jobsOf('antithesis', 'antithesis_generate_risk_register');
    expect(Object.keys(saved.get(critique!.identity)!.relationships)).toEqual([
      'thesis',
      'antithesis',
    ]);
    const [advice] = jobsOf('paralysis', 'generate-advisor-recommendations');
    expect(saved.get(advice!.identity)!.relationships).toMatchObject({
      synthesis: '1/synthesis/generate_final_synthesis_header/1',
      paralysis: '1/synthesis/product_requirements/1',
    });
  });

  test('each critique belongs to the lineage of the proposal it reads', () => {
    for (const job of jobsOf('antithesis', 'antithesis_generate_dependency_map')) {
      const groups = job.inputIds.map((id) => saved.get(id)?.sourceGroup);
      expect(new Set(groups)).toEqual(new Set([job.sourceGroup]));
    }
  });
});

describe('anchorRule beyond the five stages', () => {
  test('a consolidating step is a merge under all_to_one as under per_model', () => {
    for (const granularity of ['all_to_one', 'per_model'] as const) {
      const merge = step('m', 'EXECUTE', granularity, 'm', ['doc:a/x*=1', 'doc:a/y*=1']);
      expect(anchorRule(merge)).toEqual({ status: 'no_anchor_required' });
    }
  });

  test('only required inputs compete, own scope before relevance', () => {
    const rule = anchorRule(
      step('s', 'EXECUTE', 'per_source_document', 's', [
        'doc:a/optional?=1',
        'doc:a/rival=0.9@all',
        'doc:a/own=0.2',
        'header:a/h=1',
      ]),
    );
    expect(rule).toMatchObject({ status: 'anchor_found', input: { name: 'own' }, ties: [] });
  });
});

test('the producer fills in its own id where the planner left it open', () => {
  const open = { stage: 's', sourceGroup: null, relationships: { earlier: 'e' } };
  expect(settleContribution(open, 'c1')).toEqual({
    sourceGroup: 'c1',
    relationships: { earlier: 'e', s: 'c1' },
    sourceDocument: 'c1',
  });
  const anchored = { stage: 's', sourceGroup: 'g', relationships: { s: 'a' } };
  expect(settleContribution(anchored, 'c1')).toEqual({
    sourceGroup: 'g',
    relationships: { s: 'a' },
    sourceDocument: 'c1',
  });
});
