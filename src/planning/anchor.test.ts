import { describe, expect, test } from 'vitest';
import { ANCHOR_TABLE } from '../../test/recipes/anchor-table.ts';
import { step } from '../../test/recipes/build.ts';
import { shipped } from '../../test/recipes/shipped.ts';
import { anchorRule } from '../recipe/anchor-rule.ts';
import { settleContribution } from './anchor.ts';
import { simulateProcess, toDocument } from './simulate.ts';
import type { PlannedJob, SourceDocument } from './types.ts';

const process = shipped('software-plan');
/** Steps that a model writes; what code collects from them has no row in the table. */
const stepsOf = process.stages.map((stage) =>
  stage.steps.filter(({ compute }) => compute === null).map((one) => `${stage.key}/${one.key}`),
);
const isRequired = (job: PlannedJob, name: string): boolean =>
  process.stages
    .find(({ key }) => key === job.stage)!
    .steps.find(({ key }) => key === job.step)!
    .inputs.some((input) => input.name === name && input.required);

test('the table has one row for each step of the shipped process', () => {
  expect(ANCHOR_TABLE.map(([stage, key]) => `${stage}/${key}`).toSorted()).toEqual(
    stepsOf.flat().toSorted(),
  );
});

describe.each([1, 2, 3])('anchor and lineage of the shipped process, %i lanes', (laneCount) => {
  const jobs = simulateProcess(process, laneCount);
  const saved = new Map<string, SourceDocument>(jobs.map((job) => [job.identity, toDocument(job)]));
  const jobsOf = (stage: string, key: string): PlannedJob[] =>
    jobs.filter((job) => job.stage === stage && job.step === key);

  test.each(ANCHOR_TABLE)('%s/%s: %s', (stage, key, status, referenceKey, lineage, own) => {
    const found = jobsOf(stage, key);
    expect(found.length).toBeGreaterThan(0);
    for (const job of found) {
      const { anchor } = job;
      const document = saved.get(job.identity)!;
      const reference = 'inputId' in anchor ? saved.get(anchor.inputId)! : undefined;
      expect(anchor.status).toBe(status);
      expect(reference ? `${reference.stage}/${reference.documentKey}` : null).toBe(referenceKey);
      expect(document.relationships[stage]).toBe(own ? job.identity : reference?.contributionId);
      if (lineage === 'new') expect(document.sourceGroup).toBe(job.identity);
      if (lineage === 'anchor') expect(document.sourceGroup).toBe(reference?.sourceGroup);
      if (lineage === 'shared') {
        const ids = job.inputs
          .filter(({ name }) => isRequired(job, name))
          .flatMap((input) => input.ids);
        const groups = ids.map((id) => saved.get(id)?.sourceGroup).filter(Boolean);
        const [shared, ...others] = new Set(groups);
        expect(document.sourceGroup).toBe(others.length === 0 ? shared : job.identity);
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

describe('anchorRule beyond the shipped process', () => {
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
