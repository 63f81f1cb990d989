import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { renderDocument } from '../src/generation/render-document.ts';
import { expectedCounts } from '../src/planning/expected-counts.ts';
import { validateForRun } from '../src/planning/validate-for-run.ts';
import { readWorkItems } from '../src/planning/work-items.ts';
import { anchorRule } from '../src/recipe/anchor-rule.ts';
import { findBallotStep } from '../src/recipe/ballot.ts';
import {
  ANNOTATIONS,
  contractOf,
  describeDocument,
  type Section,
  stepsGuidedBy,
} from '../src/recipe/contract.ts';
import { isShown } from '../src/recipe/edges.ts';
import { insertStage, overrideStep } from '../src/recipe/edit.ts';
import { inputFromFile } from '../src/recipe/file-shape.ts';
import { parseStage } from '../src/recipe/parse.ts';
import { renderPrompt, renderSeedPrompt } from '../src/recipe/render-prompt.ts';
import type { ContractNode, Process, Stage, Step, StepInput } from '../src/recipe/types.ts';
import {
  checkLoneStage,
  checkProcess,
  loadProcess,
  validateProcess,
} from '../src/recipe/validate.ts';
import { checkRoom } from '../src/recipe/validate-room.ts';
import { readFolder } from './recipes/read-folder.ts';
import { sampleDocument, sampleFacts, sampleJob, sampleLabel } from './recipes/sample.ts';
import { debateAlone } from './recipes/shipped.ts';

const read = (name: string): Map<string, string> =>
  readFolder(fileURLToPath(new URL(join('../recipes', name), import.meta.url)));
const softwarePlan = loadProcess(read('software-plan'));
const decisionMemo = loadProcess(read('decision-memo'));
const research = parseStage(read('research')).value!;
const debate = debateAlone(softwarePlan);
/** Strict: it knows our annotations and throws on any other keyword. */
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true }).addVocabulary([...ANNOTATIONS]);
const withResearch = insertStage(softwarePlan, research, { before: 'thesis' });

type Place = { readonly process: Process; readonly stage: Stage; readonly step: Step };
const all: [string, Place][] = [withResearch, decisionMemo].flatMap((process) =>
  process.stages.flatMap((stage) =>
    stage.steps.map((step): [string, Place] => [
      `${process.key}/${stage.key}/${step.output.documentKey}`,
      { process, stage, step },
    ]),
  ),
);
const places = all.filter(([, { step }]) => step.compute === null);
const rendered = all.filter(([, { step }]) => step.output.template !== null);
const DEBATED = ['thesis', 'antithesis'];
const fromDebate = (input: StepInput): boolean =>
  input.documentKey !== null &&
  input.documentKey !== 'demands' &&
  DEBATED.includes(input.stage ?? '');
const isRequired = (node: ContractNode, key: string, parent: ContractNode): boolean =>
  (parent.required?.includes(key) ?? false) && node['x-shown'] !== false;
/** The leaves of a document that its text does not show. */
const findLost = (text: string, leaves: readonly string[]): string[] => {
  const line = text.replaceAll(/\s+/g, ' ');
  return leaves.filter((leaf) => !line.includes(leaf));
};
const planSteps = (key: string): readonly Step[] =>
  softwarePlan.stages
    .find((stage) => stage.key === key)!
    .steps.filter(({ compute }) => compute === null);

test('every document with sections that cite says how much of it must, where there are sources', () => {
  const citing = all.filter(([, { stage, step }]) => describeDocument(stage, step).cites);
  const wanted = citing.map(([name, { stage, step }]) => [
    name,
    contractOf(stage, step)?.['x-coverage'],
  ]);
  expect(wanted.length).toBeGreaterThan(30);
  const loose = wanted.filter(([, share]) => share === undefined).map(([name]) => name);
  // Questions and ballots state nothing of the world.
  expect(loose).toEqual([
    'software-plan/research/queries',
    'decision-memo/clarify/questions',
    'decision-memo/decide/ballot',
  ]);
  for (const [name, share] of wanted) {
    if (share !== undefined) expect(share, String(name)).toBeGreaterThanOrEqual(0.3);
  }
});

describe('the shipped recipes', () => {
  test.each(['software-plan', 'decision-memo'])('%s has no defect', (name) => {
    expect(checkProcess(read(name)).issues).toEqual([]);
  });

  test.each(['software-plan', 'decision-memo'])(
    '%s has room for its fields at each depth',
    (name) => {
      const { value, lines } = checkProcess(read(name));
      expect(checkRoom(value!, lines).map(({ file, message }) => `${file}: ${message}`)).toEqual(
        [],
      );
    },
  );

  test('the result of software-plan stays below 15,000 words at standard depth', () => {
    const result = softwarePlan.stages.find(({ key }) => key === 'result')!;
    const shown = [...softwarePlan.results, softwarePlan.firstPage!].flatMap((ref) =>
      ref.stage === 'result'
        ? result.steps.filter(({ output }) => output.documentKey === ref.documentKey)
        : [],
    );
    const words = shown.map((step) => describeDocument(result, step).words);
    expect(words.filter((count) => count > 0)).toHaveLength(5);
    expect(words.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(15_000);
  });

  test('research has no defect as a stage on its own', () => {
    expect(checkLoneStage(read('research')).issues).toEqual([]);
  });

  test('inserted before thesis, research is valid and adds four calls for each lane', () => {
    const inserted = debateAlone(withResearch);
    const keys = inserted.stages.map((stage) => stage.key);
    expect(keys.slice(0, 2)).toEqual(['research', 'thesis']);
    expect(validateForRun(inserted, 2)).toEqual([]);
    expect(expectedCounts(inserted, 2).calls).toBe(104 + 8);
  });

  test('thesis can be made to read what research found', () => {
    const header = planSteps('thesis')[0]!;
    const added = ['clusters', 'contradictions'].map((document_key) =>
      inputFromFile(
        { type: 'document', stage: 'research', document_key, relevance: 0.8 },
        'thesis',
      ),
    );
    const inputs = [...header.inputs, ...added];
    const changed = overrideStep(withResearch, 'thesis', header.key, { inputs });
    expect(validateProcess(changed)).toEqual([]);
    expect(expectedCounts(debateAlone(changed), 3).calls).toBe(237 + 12);
  });

  test('no text names a model or its maker', () => {
    const names =
      /\b(gpt|chatgpt|openai|claude|anthropic|gemini|google|llama|mistral|deepseek|qwen|grok)\b/i;
    const found = ['software-plan', 'decision-memo', 'research'].flatMap((name) =>
      [...read(name)].filter(([, text]) => names.test(text)).map(([path]) => `${name}/${path}`),
    );
    expect(found).toEqual([]);
  });
});

describe('the calls of a run', () => {
  test.each([
    [1, 33, 20],
    [2, 104, 50],
    [3, 237, 90],
    [5, 785, 200],
  ])(
    'software-plan with %i lanes makes %i calls and %i rendered documents',
    (lanes, calls, renders) => {
      expect(validateForRun(debate, lanes)).toEqual([]);
      expect(expectedCounts(debate, lanes)).toMatchObject({ calls, renders });
    },
  );

  test('the steps of software-plan are shared out as designed', () => {
    const { byStage, steps } = expectedCounts(debate, 3);
    expect(steps.filter(({ calls }) => calls > 0)).toHaveLength(33);
    expect(byStage).toMatchObject({
      thesis: 15,
      antithesis: 63,
      synthesis: 135,
      parenthesis: 12,
      paralysis: 12,
    });
  });

  test.each([
    [1, 5],
    [2, 10],
    [4, 20],
  ])('decision-memo with %i lanes makes %i calls', (lanes, calls) => {
    expect(expectedCounts(decisionMemo, lanes).calls).toBe(calls);
  });
});

describe('the steps of software-plan', () => {
  test('read the seed prompt of their own stage', () => {
    for (const stage of softwarePlan.stages) {
      const seeds = stage.steps.flatMap((step) => step.inputs).filter(isSeed);
      expect(seeds.map((input) => input.stage)).toEqual(seeds.map(() => stage.key));
    }
  });

  test('read across lanes what is debated, and nothing else', () => {
    for (const stage of debate.stages) {
      for (const step of stage.steps.filter(({ compute }) => compute === null)) {
        const across = step.inputs.filter((input) => input.scope === 'all');
        const others = across.filter((input) => !fromDebate(input));
        const rivals = step.output.documentKey === 'advisor_recommendations';
        expect(others.map((input) => input.documentKey)).toEqual(
          rivals ? ['updated_master_plan', 'advisor_recommendations'] : [],
        );
        const earlier = step.inputs.filter(
          (input) => fromDebate(input) && input.stage !== stage.key,
        );
        expect(earlier.filter((input) => input.scope === 'own')).toEqual([]);
      }
    }
  });

  test.each([
    ['thesis', 'no_anchor_required', ...Array(4).fill('derive_from_header_context')],
    ['antithesis', ...Array(7).fill('anchor_found')],
    [
      'synthesis',
      'no_anchor_required',
      ...Array(4).fill('anchor_found'),
      ...Array(4).fill('no_anchor_required'),
      'no_anchor_required',
      ...Array(3).fill('anchor_found'),
    ],
    ['parenthesis', 'no_anchor_required', ...Array(3).fill('anchor_found')],
    ['paralysis', 'no_anchor_required', ...Array(3).fill('anchor_found')],
  ] as string[][])('%s has the anchors of its table', (stage, ...statuses) => {
    expect(planSteps(stage).map((step) => anchorRule(step).status)).toEqual(statuses);
  });

  test('hand out the milestones of every phase of the final plan', () => {
    const workItems = softwarePlan.workItems.at(-1)!;
    const step = planSteps(workItems.stage).find(
      (one) => one.output.documentKey === workItems.documentKey,
    )!;
    const stage = softwarePlan.stages.find((one) => one.key === workItems.stage)!;
    const { content } = sampleDocument(contractOf(stage, step)!);
    expect(readWorkItems(workItems, content).map((one) => one.id)).toEqual(
      ['1.milestones.1', '1.milestones.2', '2.milestones.1', '2.milestones.2'].map(
        (place) => `at.phases.${place}.id`,
      ),
    );
  });

  test('may be left to one writer after synthesis', () => {
    expect(softwarePlan.writerAfter).toBe('synthesis');
  });

  test('guide every document of a stage by a plan, but for ballots and what only merges', () => {
    for (const stage of debate.stages) {
      const guided = stage.steps
        .filter((step) => step.jobType === 'PLAN')
        .flatMap((step) => {
          return stepsGuidedBy(stage, step).map((one) => one.key);
        });
      const unguided = stage.steps
        .filter(({ jobType, compute }) => jobType === 'EXECUTE' && compute === null)
        .filter((step) => step.key !== findBallotStep(softwarePlan)?.key)
        .filter((step) => !guided.includes(step.key))
        .map((step) => step.granularity);
      expect(new Set(unguided)).toEqual(new Set(stage.key === 'synthesis' ? ['per_model'] : []));
    }
  });
});

const isSeed = (input: StepInput): boolean => input.type === 'seed_prompt';
const spokenOf = (input: StepInput): boolean => input.type !== 'header_context' && isShown(input);

describe.each(places)('the prompt of %s', (_, { process, stage, step }) => {
  const render = (
    iteration: number,
    wanted: (input: StepInput) => boolean,
    sourceCount = 1,
  ): string => {
    const job = { ...sampleJob(step, wanted), sourceCount };
    return renderPrompt(process, stage, step, sampleFacts(process, iteration), job);
  };

  test('asks for every section and speaks of every document by its label', () => {
    const text = render(2, () => true);
    expect(text).not.toMatch(/\{\{|\{%|undefined|\[object/);
    for (const { key } of describeDocument(stage, step).sections)
      expect(text).toContain(`\`${key}\``);
    for (const input of step.inputs.filter(spokenOf)) {
      expect(text).toContain(sampleLabel(input, 0));
      if (input.multiple) expect(text).toContain(sampleLabel(input, 1));
    }
    for (const guided of step.jobType === 'PLAN' ? stepsGuidedBy(stage, step) : []) {
      expect(text).toContain(`\`${guided.output.documentKey}\``);
      for (const { key } of describeDocument(stage, guided).sections) {
        expect(text).toContain(`\`${key}\``);
      }
    }
    const guided = step.inputs.some((input) => input.type === 'header_context' && isShown(input));
    expect(text.includes('GUIDANCE for this document')).toBe(guided);
    for (const input of step.inputs.filter((one) => !isShown(one))) {
      expect(text).not.toContain(sampleLabel(input, 0));
    }
  });

  test('does without what is optional', () => {
    const text = render(1, (input) => input.required);
    expect(text).not.toMatch(/\{\{|\{%|undefined|\[object|pass before made|What people said/);
  });

  test('states the rules on evidence, gaps and disagreement', () => {
    const text = render(1, () => true);
    expect(text).toMatch(/only (with )?ids from the list of sources/);
    expect(text).toContain('(assumption)');
    expect(text).toMatch(/keep both[^\n]*condition under which each (would be|is) right/);
    expect(text).toMatch(/labels, not names/);
  });

  test('asks for no citation where there is no source', () => {
    const text = render(1, () => true, 0);
    expect(text).not.toContain('cite evidence');
    const hasOwnRules = process === decisionMemo || stage.key === 'research';
    expect(text.includes('the list of sources')).toBe(hasOwnRules);
    expect(text).toContain('(assumption)');
  });
});

test('every seed prompt holds the request', () => {
  for (const process of [withResearch, decisionMemo]) {
    for (const stage of process.stages.filter((one) => one.seedPrompt !== null)) {
      const text = renderSeedPrompt(process, stage, sampleFacts(process, 2));
      expect(text).toContain('REQUEST: open a bakery');
      expect(text).toContain('RESOURCE constraint_boundaries');
      expect(text).not.toMatch(/\{\{|\{%|undefined/);
    }
  }
});

describe.each(all)('the contract of %s', (_, { stage, step }) => {
  const contract = contractOf(stage, step)!;

  test('tells a writer what belongs into every section and field', () => {
    const silent = (sections: readonly Section[]): string[] =>
      sections.flatMap((section) => [
        ...(section.description === '' ? [section.key] : []),
        ...silent(section.fields),
      ]);
    const known = ['score', 'rationale', 'type', 'artifact_class', 'file_type'];
    const missing = silent(describeDocument(stage, step).sections);
    expect(missing.filter((key) => !known.includes(key))).toEqual([]);
    expect(contract.description).not.toBe('');
  });

  test('is met by a document that is made from it', () => {
    const { content } = sampleDocument(contract);
    const validate = ajv.compile(contract);
    validate(content);
    expect(validate.errors?.filter(({ keyword }) => keyword !== 'maximum') ?? []).toEqual([]);
  });
});

describe.each(rendered)('the template of %s', (_, { process, stage, step }) => {
  const contract = contractOf(stage, step)!;
  const render = (content: Readonly<Record<string, unknown>>): string =>
    renderDocument(process, stage, step, content);

  test('prints every field that is for readers', () => {
    const { content, leaves } = sampleDocument(contract, (node) => node['x-shown'] !== false);
    const text = render(content);
    expect(findLost(text, leaves)).toEqual([]);
    expect(text).not.toMatch(/\{\{|\{%|undefined|\[object/);
  });

  test('prints what is required alone, without empty headings', () => {
    const { content, leaves } = sampleDocument(contract, isRequired);
    const text = render(content);
    expect(findLost(text, leaves)).toEqual([]);
    expect(text).not.toMatch(/undefined|null|\*\*\*\*/);
    const blocks = text.split(/\n{2,}/).map((block) => /^#*/.exec(block.trim())![0].length);
    const empty = blocks.filter((level, at) => {
      const next = blocks[at + 1] ?? 1;
      return level > 0 && next > 0 && next <= level;
    });
    expect(empty).toEqual([]);
  });
});
