import { isProduced } from '../../src/recipe/edges.ts';
import { forkStage } from '../../src/recipe/edit.ts';
import { defaultName } from '../../src/recipe/file-shape.ts';
import type {
  Contract,
  Granularity,
  InputType,
  Process,
  Stage,
  Step,
  StepInput,
} from '../../src/recipe/types.ts';

const TYPES: Readonly<Record<string, InputType>> = {
  seed: 'seed_prompt',
  header: 'header_context',
  doc: 'document',
  contrib: 'contribution',
  fb: 'feedback',
};

/**
 * An input in short form: `doc:thesis/business_case*?=0.9@all,previous,join`. `*` means multiple,
 * `?` optional; after `@` come scope `all`, iteration `previous` and `join` (all).
 */
function input(short: string): StepInput {
  const match =
    /^(\w+):([\w-]+)\/([\w-]*)(\*?)(\??)(?:=([\d.]+))?(?:@([\w,]+))?$/.exec(short) ??
    (() => {
      throw new Error(`not an input: ${short}`);
    })();
  const [, type, stage, key, multiple, optional, relevance, flags = ''] = match;
  const bare = {
    type: TYPES[type!]!,
    stage: stage!,
    documentKey: key === '' ? null : key!,
    scope: flags.includes('all') ? ('all' as const) : ('own' as const),
    iteration: flags.includes('previous') ? ('previous' as const) : ('current' as const),
    multiple: multiple === '*',
    required: optional !== '?',
    relevance: Number(relevance ?? 1),
    join: flags.includes('join') ? ('all' as const) : null,
  };
  return { name: defaultName(bare), ...bare };
}

/** An EXECUTE step that reads the seed prompt alone may read its own document of the pass before. */
function readSomething(
  jobType: Step['jobType'],
  documentKey: string,
  inputs: readonly StepInput[],
): readonly StepInput[] {
  const [first] = inputs;
  if (jobType === 'PLAN' || first === undefined || inputs.some(isProduced)) return inputs;
  return [...inputs, input(`doc:${first.stage}/${documentKey}?@previous`)];
}

/** A step in short form; its prompt, contract and template are made up by `stage`. */
export function step(
  key: string,
  jobType: Step['jobType'],
  granularity: Granularity,
  documentKey: string,
  inputs: readonly string[],
  more: Partial<Step> = {},
): Step {
  return {
    key,
    name: key,
    jobType,
    granularity,
    forEach: null,
    prompt: 'prompts/any.md',
    compute: null,
    checks: [],
    extends: null,
    rewrites: null,
    alone: 'run',
    output: {
      kind: jobType === 'PLAN' ? 'header_context' : 'document',
      documentKey,
      contract: 'contracts/any.yaml',
      template: jobType === 'PLAN' ? null : 'templates/any.md',
    },
    inputs: readSomething(jobType, documentKey, inputs.map(input)),
    after: [],
    dependencyPolicy: 'all',
    quorum: null,
    continuation: { maxTurns: 60, maxIdleTurns: 3, maxChars: 400_000 },
    skip: false,
    origin: null,
    ...more,
  };
}

const CONTRACT: Contract = {
  type: 'object',
  title: 'Anything',
  required: ['text'],
  properties: { text: { type: 'string', description: 'The text.' } },
};

/** A stage whose steps share one prompt, one contract and one template. */
export function stage(key: string, steps: readonly Step[]): Stage {
  return {
    key,
    name: key,
    description: '',
    lanes: 'all',
    seedPrompt: 'prompts/seed.md',
    steps,
    contracts: { 'contracts/any.yaml': CONTRACT },
    files: {
      'prompts/seed.md': '{{ user_request }}',
      'prompts/any.md': 'Write {{ document.title }}.',
      'templates/any.md': '{{ content.text | markdown }}',
    },
    origin: null,
  };
}

/** A process of these stages, without gates. */
export function processOf(key: string, stages: readonly Stage[]): Process {
  return {
    key,
    name: key,
    description: '',
    stages,
    transitions: stages
      .slice(1)
      .map((to, at) => ({ from: stages[at]!.key, to: to.key, gate: false })),
    overlay: {},
    domains: {},
    shared: {},
    results: [],
    convergence: null,
    firstPage: null,
    replaced: [],
    workItems: [],
    writerAfter: null,
    askStage: null,
    resultStage: null,
    depth: 'standard',
    omitted: [],
  };
}

/** The process with another list of steps in a stage, which says where it was copied from. */
export function withSteps(
  process: Process,
  stageKey: string,
  change: (steps: readonly Step[]) => readonly Step[],
): Process {
  const forked = forkStage(process, stageKey);
  const stages = forked.stages.map((one) =>
    one.key === stageKey ? { ...one, steps: change(one.steps) } : one,
  );
  return { ...forked, stages };
}

/** The process with other texts in a stage. */
export function withFiles(
  process: Process,
  stageKey: string,
  files: Readonly<Record<string, string>>,
): Process {
  const forked = forkStage(process, stageKey);
  const stages = forked.stages.map((one) =>
    one.key === stageKey ? { ...one, files: { ...one.files, ...files } } : one,
  );
  return { ...forked, stages };
}

/** The process with a gate after a stage. */
export const withGate = (process: Process, from: string): Process => ({
  ...process,
  transitions: process.transitions.map((one) => (one.from === from ? { ...one, gate: true } : one)),
});
