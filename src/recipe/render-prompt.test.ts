import { describe, expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { describeDocument, schemaForModel } from './contract.ts';
import { mergeOverlays } from './overlays.ts';
import { type PromptFacts, renderPrompt, renderSeedPrompt } from './render-prompt.ts';
import type { Contract } from './types.ts';
import { loadProcess, validateProcess } from './validate.ts';

const process = loadProcess(documentedExample());
const [propose, challenge] = process.stages;
const [judge, decide] = challenge!.steps;
const overlay = mergeOverlays({ system: process.overlay, domain: process.domains['health'] });
const facts: PromptFacts = {
  userRequest: 'Should we open a second clinic?',
  iteration: 1,
  project: { name: 'Clinic', domain: 'health' },
  resources: {},
  overlay,
};

test('overlays merge in the order system, domain, project, session', () => {
  const merged = mergeOverlays({
    session: { style: 'short' },
    system: { role: 'a', standards: ['x', 'y'], style: 'long' },
    project: { role: 'c', standards: ['x', 'z'] },
    domain: { role: 'b', standards: ['d'] },
  });
  expect(merged).toEqual({ role: 'c', standards: ['x', 'y', 'd', 'z'], style: 'short' });
});

describe('prompts', () => {
  test('a seed prompt carries the role and the request', () => {
    expect(renderSeedPrompt(process, propose!, facts)).toBe(
      'You are an experienced adviser. The request:\n\nShould we open a second clinic?\n',
    );
  });

  test('a stage without a seed prompt passes the request on', () => {
    expect(renderSeedPrompt(process, challenge!, facts)).toBe(facts.userRequest);
  });

  test('a prompt lists the sections of its contract', () => {
    const text = renderPrompt(process, propose!, propose!.steps[0]!, facts, { inputs: {} });
    expect(text).toContain('- `summary`: The recommendation in five sentences.');
  });

  test('a prompt counts its inputs, and absent ones are an empty list', () => {
    const input = { label: 'A', stage: 'challenge', document_key: 'judgement', title: 'J' };
    const text = renderPrompt(process, challenge!, decide!, facts, {
      inputs: { judgement: [input, input] },
    });
    expect(text).toContain('Weigh the 2 judgements');
    expect(renderPrompt(process, challenge!, decide!, facts, { inputs: {} })).toContain('the 0');
  });

  test('a prompt includes texts that the process shares', () => {
    const shared = { 'shared/rules.md': 'Rules for {{ document.title }}.' };
    const files = {
      ...challenge!.files,
      'prompts/judge.md': "{% render 'shared/rules.md', document: document %}",
    };
    const changed = { ...challenge!, files };
    const whole = { ...process, shared, stages: [propose!, changed] };
    expect(validateProcess(whole)).toEqual([]);
    expect(renderPrompt(whole, changed, judge!, facts, { inputs: {} })).toBe(
      'Rules for Judgement.',
    );
    const broken = { ...whole, shared: { 'shared/rules.md': 'x\n{{ document.titel }}' } };
    expect(validateProcess(broken)).toMatchObject([
      {
        code: 'prompt_variable_unknown',
        file: 'shared/rules.md',
        line: 2,
        field: 'document.titel',
      },
    ]);
  });

  test('an unknown variable fails with file and line', () => {
    const files = { ...challenge!.files, 'prompts/judge.md': 'one\n{{ nothing }}' };
    const render = () =>
      renderPrompt(process, { ...challenge!, files }, judge!, facts, { inputs: {} });
    expect(render).toThrow(/^prompts\/judge\.md:2: undefined variable: nothing/);
  });

  test('templates reach neither prototypes nor files', () => {
    const files = { ...challenge!.files, 'prompts/judge.md': '{{ inputs.constructor.name }}' };
    const render = () =>
      renderPrompt(process, { ...challenge!, files }, judge!, facts, { inputs: {} });
    expect(render).toThrow(/undefined variable/);
    const included = { ...challenge!.files, 'prompts/judge.md': "{% include 'package.json' %}" };
    expect(() =>
      renderPrompt(process, { ...challenge!, files: included }, judge!, facts, { inputs: {} }),
    ).toThrow(/package\.json/);
  });
});

describe('contracts', () => {
  test('a document is described by its sections', () => {
    expect(describeDocument(propose!, propose!.steps[0]!)).toMatchObject({
      key: 'proposal',
      title: 'Proposal',
      cites: true,
      sections: [
        { key: 'summary', type: 'string', required: true, cites: true, fields: [] },
        { key: 'options', type: 'array of object', fields: [{ key: 'name' }, { key: 'why' }] },
      ],
    });
  });

  test('what code fills in is not asked of a model', () => {
    const schema = schemaForModel({
      type: 'object',
      required: ['who', 'score'],
      properties: { who: { type: 'string', 'x-fill': 'source_model' }, score: { 'x-cites': true } },
    });
    expect(schema).toEqual({ type: 'object', required: ['score'], properties: { score: {} } });
  });

  test('a model is not told which lists code reads', () => {
    const schema = schemaForModel({
      type: 'object',
      properties: {
        work: { type: 'array', 'x-records': 'work_items', items: { type: 'object' } },
      },
    });
    expect(schema.properties).toEqual({ work: { type: 'array', items: { type: 'object' } } });
  });
});

describe('what code fills in', () => {
  const filled = { type: 'object', properties: { by: { type: 'string', 'x-fill': 'own_model' } } };
  const contract = {
    type: 'object',
    title: 'Judgement',
    required: ['who', 'trail', 'mixed'],
    properties: {
      who: filled,
      trail: { type: 'array', items: { type: 'object', properties: { deep: filled } } },
      mixed: { type: 'object', properties: { ...filled.properties, why: { type: 'string' } } },
    },
  } as const;
  const path = judge!.output.contract;
  const stage = { ...challenge!, contracts: { [path]: contract as unknown as Contract } };

  test('is no section, and neither is a record or list that holds nothing else', () => {
    const [section, ...others] = describeDocument(stage, judge!).sections;
    expect(others).toEqual([]);
    expect(section).toMatchObject({ key: 'mixed', fields: [{ key: 'why' }] });
  });

  test('is not in the schema that a model gets', () => {
    expect(schemaForModel(stage.contracts[path]!)).toEqual({
      type: 'object',
      title: 'Judgement',
      required: ['mixed'],
      properties: { mixed: { type: 'object', properties: { why: { type: 'string' } } } },
    });
  });
});
