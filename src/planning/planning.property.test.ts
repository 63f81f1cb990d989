import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { orderInWaves } from '../recipe/edges.ts';
import { processToFiles } from '../recipe/serialise.ts';
import { GRANULARITIES, type Process, type Step } from '../recipe/types.ts';
import { checkProcess, validateProcess } from '../recipe/validate.ts';
import { expectedCounts } from './expected-counts.ts';
import { planStep } from './plan-step.ts';
import { simulateProcess, toDocument } from './simulate.ts';
import { validateForRun } from './validate-for-run.ts';

type StepSeed = {
  readonly granularity: number;
  readonly sources: readonly number[];
  readonly all: boolean;
  readonly plan: boolean;
};

const stepSeed: fc.Arbitrary<StepSeed> = fc.record({
  granularity: fc.nat(GRANULARITIES.length - 1),
  sources: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  all: fc.boolean(),
  plan: fc.boolean(),
});
const recipeSeed = fc.array(fc.array(stepSeed, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 4,
});

type Made = { readonly stage: string; readonly key: string; readonly plan: boolean };

/** A recipe that reads only what exists; weights differ, so that no anchors tie. */
function buildRecipe(seeds: readonly (readonly StepSeed[])[]): Process {
  const made: Made[] = [];
  const stages = seeds.map((steps, at) => {
    const key = `stage${at}`;
    return stage(
      key,
      steps.map((seed, index) => buildStep(key, `step${at}_${index}`, seed, made)),
    );
  });
  return processOf('random', stages);
}

function buildStep(stageKey: string, key: string, seed: StepSeed, made: Made[]): Step {
  const chosen = [
    ...new Set(seed.sources.map((one) => made[one % Math.max(made.length, 1)])),
  ].filter((one) => one !== undefined);
  // A step that reads nothing but its seed prompt has no anchor unless it makes a header.
  const plan = seed.plan || chosen.length === 0;
  const jobType = plan ? 'PLAN' : 'EXECUTE';
  const scope = seed.all ? '@all' : '';
  const inputs = chosen.map(
    (one, at) =>
      `${one.plan ? 'header' : 'doc'}:${one.stage}/${one.key}*=${(1 - at / 10).toFixed(1)}${scope}`,
  );
  made.push({ stage: stageKey, key, plan });
  const granularity = GRANULARITIES[seed.granularity]!;
  const fits = chosen.length > 0 && granularity !== 'pairwise_by_origin';
  return step(
    key,
    jobType,
    fits ? granularity : 'all_to_one',
    key,
    [`seed:${stageKey}/`, ...inputs],
    {
      forEach:
        fits && (granularity === 'per_source_document' || granularity === 'per_source_group')
          ? chosen[0]!.key
          : null,
    },
  );
}

/** Recipes whose lineages match for two lanes; the others are refused by the dry run. */
const runnable = recipeSeed
  .map(buildRecipe)
  .filter((process) => validateForRun(process, 2).length === 0);

describe('random recipes', { timeout: 60_000 }, () => {
  test('most of them run, and those that do not are refused with a located error', () => {
    let ran = 0;
    fc.assert(
      fc.property(recipeSeed, (seeds) => {
        const process = buildRecipe(seeds);
        expect(validateProcess(process)).toEqual([]);
        const issues = validateForRun(process, 2);
        if (issues.length === 0) ran += 1;
        for (const issue of issues) {
          expect(issue).toMatchObject({ code: 'input_unsatisfied', field: /^steps\[\d+\]/ });
          expect(issue.line).toBeGreaterThan(1);
        }
      }),
      { numRuns: 300 },
    );
    expect(ran).toBeGreaterThan(150);
  });

  test('always plan to the end, as announced, whatever the order of documents', () => {
    fc.assert(
      fc.property(runnable, fc.infiniteStream(fc.nat()), (process, dice) => {
        const jobs = simulateProcess(process, 2);
        expect(expectedCounts(process, 2).calls).toBe(jobs.length);
        const planned = new Set(jobs.map((job) => job.step));
        const steps = process.stages.flatMap((one) => orderInWaves(one).flat());
        expect(planned).toEqual(new Set(steps));
        expect(new Set(jobs.map((job) => job.identity)).size).toBe(jobs.length);
        const seeds = process.stages.map((one) => seedOf(one.key));
        const all = [...jobs.map(toDocument), ...seeds];
        const shuffled = all
          .map((document) => [dice.next().value ?? 0, document] as const)
          .toSorted((a, b) => a[0] - b[0])
          .map(([, document]) => document);
        const lanes = [1, 2].map((ordinal) => ({ id: `lane-${ordinal}`, ordinal }));
        for (const one of process.stages) {
          for (const { key } of one.steps) {
            const { jobs: again } = planStep({
              process,
              stageKey: one.key,
              stepKey: key,
              lane: lanes[0]!,
              lanes,
              iteration: 1,
              documents: shuffled,
            });
            const before = jobs.filter((job) => job.step === key && job.laneId === 'lane-1');
            expect(again).toEqual(before);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  test('mutations that break a recipe are refused with file, line and field', () => {
    fc.assert(
      fc.property(runnable, fc.nat(), fc.constantFrom(...MUTATIONS), (process, at, [, mutate]) => {
        const steps = process.stages.flatMap((one) => one.steps);
        const victim = steps[at % steps.length]!;
        const mutant = {
          ...process,
          stages: process.stages.map((one) => ({
            ...one,
            steps: one.steps.map((old) => (old === victim ? mutate(old) : old)),
          })),
        };
        const files = processToFiles(mutant);
        const { issues, value } = checkProcess(files);
        expect(value).toBeNull();
        for (const issue of issues) {
          expect(files.has(issue.file) || issue.code === 'file_missing').toBe(true);
          expect(issue.line).toBeGreaterThanOrEqual(1);
          expect(issue.message).not.toBe('');
        }
        expect(issues.some((issue) => issue.field.startsWith('steps[') && issue.line > 1)).toBe(
          true,
        );
      }),
      { numRuns: 300 },
    );
  });
});

const withInput = (short: string) => (old: Step) => {
  const extra = step('', 'PLAN', 'all_to_one', '', [short]).inputs;
  return { ...old, inputs: [...old.inputs, ...extra] };
};

const MUTATIONS: readonly (readonly [string, (old: Step) => Step])[] = [
  ['unknown strategy', (old) => ({ ...old, granularity: 'per_whim' as Step['granularity'] })],
  ['missing producer', withInput('doc:stage0/nobody')],
  ['missing stage', withInput('doc:nowhere/x')],
  [
    'own output',
    (old) =>
      withInput(
        `${old.jobType === 'PLAN' ? 'header' : 'doc'}:stage${old.key.slice(4).split('_')[0]}/${old.output.documentKey}`,
      )(old),
  ],
  ['required from before', withInput('doc:stage0/step0_0@previous')],
  ['two inputs of one name', (old) => ({ ...old, inputs: [...old.inputs, old.inputs[0]!] })],
  ['no such prompt', (old) => ({ ...old, prompt: 'prompts/gone.md' })],
  [
    'no such contract',
    (old) => ({ ...old, output: { ...old.output, contract: 'contracts/gone.yaml' } }),
  ],
  ['no such driver', (old) => ({ ...old, granularity: 'per_source_document', forEach: 'gone' })],
  ['unknown predecessor', (old) => ({ ...old, after: ['gone'] })],
  [
    'relevance out of range',
    (old) => ({ ...old, inputs: old.inputs.map((one) => ({ ...one, relevance: 7 })) }),
  ],
];

const seedOf = (key: string) => ({
  id: `seed_prompt/${key}`,
  identity: `seed_prompt/${key}`,
  kind: 'seed_prompt' as const,
  stage: key,
  documentKey: null,
  iteration: 1,
  laneId: null,
  contributionId: null,
  sourceGroup: null,
  relationships: {},
});
