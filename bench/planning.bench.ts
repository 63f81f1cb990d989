import { expectedCounts } from '../src/planning/expected-counts.ts';
import { planStep } from '../src/planning/plan-step.ts';
import type { SourceDocument } from '../src/planning/types.ts';
import type { Granularity, Process } from '../src/recipe/types.ts';
import { processOf, stage, step } from '../test/recipes/build.ts';
import { shipped } from '../test/recipes/shipped.ts';
import type { Benchmark, Measurement } from './frame.ts';

const SIZES = [1_000, 10_000, 100_000];
const STRATEGIES: readonly Granularity[] = [
  'all_to_one',
  'per_source_document',
  'per_source_document_by_lineage',
  'pairwise_by_origin',
  'per_source_group',
];
const LANES = ['lane-1', 'lane-2'].map((id, at) => ({ id, ordinal: at + 1 }));

/** Half of them proposals, half answers; each lineage holds one proposal and one answer. */
function makeDocuments(count: number): SourceDocument[] {
  return Array.from({ length: count }, (_, at) => {
    const isAnswer = at % 2 === 1;
    const id = `id-${(at * 7919) % count}`;
    return {
      id,
      identity: `identity-${at}`,
      kind: 'document' as const,
      stage: isAnswer ? 'b' : 'a',
      documentKey: isAnswer ? 'answer' : 'proposal',
      iteration: 1,
      laneId: 'lane-1',
      contributionId: id,
      sourceGroup: `group-${at >> 1}`,
      relationships: { a: `id-${at >> 1}` },
    };
  });
}

function makeRecipe(granularity: Granularity): Process {
  const pairs = granularity === 'pairwise_by_origin' || granularity === 'per_source_document';
  const driven = pairs || granularity === 'per_source_group';
  return processOf('large', [
    stage('a', [step('proposal', 'EXECUTE', 'all_to_one', 'proposal', ['seed:a/'])]),
    stage('b', [
      step('answer', 'EXECUTE', 'per_source_document', 'answer', ['doc:a/proposal@all']),
    ]),
    stage('c', [
      step(
        'merge',
        'EXECUTE',
        granularity,
        'merge',
        ['doc:a/proposal*=1@all', 'doc:b/answer*=0.9@all'],
        { forEach: driven ? 'proposal' : null },
      ),
    ]),
  ]);
}

function timePlan(granularity: Granularity, count: number): number {
  const process = makeRecipe(granularity);
  const documents = makeDocuments(count);
  const [lane] = LANES;
  const stageLanes = { a: ['lane-1'], b: ['lane-1'] };
  const place = { process, stageKey: 'c', stepKey: 'merge', lane: lane!, lanes: LANES };
  const times = [1, 2, 3].map(() => {
    const started = performance.now();
    planStep({ ...place, stageLanes, iteration: 1, documents });
    return performance.now() - started;
  });
  return times.toSorted((a, b) => a - b)[1]!;
}

async function run() {
  const results: Measurement[] = [];
  const ratios: Record<string, number> = {};
  timePlan('per_source_document', 10_000);
  for (const granularity of STRATEGIES) {
    const times = SIZES.map((count) => timePlan(granularity, count));
    for (const [at, count] of SIZES.entries()) {
      const metric = `plan one step of ${count} documents, median of 3`;
      results.push({ metric, subject: granularity, value: times[at]!, unit: 'ms' });
    }
    ratios[`${granularity}: time for ten times the documents, 10⁴ to 10⁵`] = times[2]! / times[1]!;
  }
  const started = performance.now();
  const { calls } = expectedCounts(shipped('software-plan'), 10);
  const value = performance.now() - started;
  results.push({
    metric: `count ${calls} calls of ten lanes`,
    subject: 'dry run',
    value,
    unit: 'ms',
  });
  return { results, ratios };
}

export default {
  title: 'Planning: documents in one step',
  run,
} satisfies Benchmark;
