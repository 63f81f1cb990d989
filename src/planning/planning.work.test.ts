import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { Process, Step } from '../recipe/types.ts';
import { planStep } from './plan-step.ts';
import type { SourceDocument } from './types.ts';

const FEW = 500;

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

/** Plans the step and counts how often it looks at a field of a document. */
function countReads(granularity: Step['granularity'], count: number) {
  const lane = { id: 'lane-1', ordinal: 1 };
  let reads = 0;
  const watch: ProxyHandler<SourceDocument> = {
    get(target, key) {
      reads++;
      return target[key as keyof SourceDocument];
    },
  };
  const { jobs } = planStep({
    process: recipe(granularity),
    stageKey: 'b',
    stepKey: 's',
    lane,
    lanes: [lane],
    iteration: 1,
    documents: documents(count).map((document) => new Proxy(document, watch)),
  });
  return { jobs: jobs.length, reads };
}

describe('planning twenty times the documents in one step', () => {
  test.each([
    ['all_to_one', () => 1],
    ['per_source_document', (count: number) => count],
    ['per_source_document_by_lineage', (count: number) => count / 2],
    ['per_source_group', (count: number) => count / 2],
  ] as const)('%s looks at each about as often', (granularity, expected) => {
    const few = countReads(granularity, FEW);
    const many = countReads(granularity, 20 * FEW);
    expect([few.jobs, many.jobs]).toEqual([expected(FEW), expected(20 * FEW)]);
    // Sorting looks log n times; comparing each with each would look twenty times as often.
    const growth = many.reads / 20 / few.reads;
    expect(growth).toBeGreaterThan(0.5);
    expect(growth).toBeLessThan(2);
  });
});
