import { performance } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { Process, Step } from '../recipe/types.ts';
import { planStep } from './plan-step.ts';
import type { SourceDocument } from './types.ts';

const COUNT = 100_000;

/** `count` documents of one lane, two in each lineage. */
const documents = (count: number): SourceDocument[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `id-${(at * 7919) % count}`,
    identity: `identity-${at}`,
    kind: 'document' as const,
    stage: 'a',
    documentKey: 'x',
    iteration: 1,
    laneId: 'lane-1',
    contributionId: `id-${at}`,
    sourceGroup: `group-${at >> 1}`,
    relationships: { a: `id-${at}` },
  }));

const recipe = (granularity: Step['granularity']): Process =>
  processOf('large', [
    stage('a', [step('x', 'EXECUTE', 'all_to_one', 'x', ['seed:a/'])]),
    stage('b', [step('s', 'EXECUTE', granularity, 's', ['doc:a/x*@all'])]),
  ]);

function timePlan(granularity: Step['granularity'], count: number): [jobs: number, ms: number] {
  const lane = { id: 'lane-1', ordinal: 1 };
  const request = {
    process: recipe(granularity),
    stageKey: 'b',
    stepKey: 's',
    lane,
    lanes: [lane],
  };
  const given = documents(count);
  const start = performance.now();
  const { jobs } = planStep({ ...request, iteration: 1, documents: given });
  return [jobs.length, performance.now() - start];
}

describe('planning a hundred thousand documents in one step', () => {
  test.each([
    ['all_to_one', 1],
    ['per_source_document', COUNT],
    ['per_source_document_by_lineage', COUNT / 2],
    ['per_source_group', COUNT / 2],
  ] as const)('%s', (granularity, expected) => {
    const [jobs, ms] = timePlan(granularity, COUNT);
    expect(jobs).toBe(expected);
    expect(ms).toBeLessThan(60_000); // the figure is the benchmark's; this only finds what explodes
  });
});
