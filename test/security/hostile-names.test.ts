import { describe, expect, test } from 'vitest';
import { checkContract } from '../../src/generation/check-contract.ts';
import { fillFields } from '../../src/generation/fill-fields.ts';
import { renderMarkdown } from '../../src/generation/render-markdown.ts';
import { loadTokenCounter } from '../../src/models/tokens.ts';
import { expectedCounts } from '../../src/planning/expected-counts.ts';
import { readWorkItems } from '../../src/planning/work-items.ts';
import { gatherOpenQuestions } from '../../src/recipe/open-questions.ts';
import type { ContractNode } from '../../src/recipe/types.ts';
import { loadProcess } from '../../src/recipe/validate.ts';
import { renderLiquid } from '../../src/text/liquid.ts';
import { documentedExample } from '../recipes/documented-example.ts';

/** Names that every object has; a table that is looked up by them finds a function. */
const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf'];

const FILL = {
  lineage: '',
  source_model: '',
  own_model: 'x/a',
  iteration: 1,
  document_key: '',
};

describe.each(NAMES)('%s is a name like any other', (name) => {
  const contract = {
    type: 'object',
    required: [name],
    properties: { [name]: { type: 'string' } },
  };

  test('for a section, a field and a question', () => {
    const content = { [name]: 'It says something.' };
    expect(checkContract(contract, content)).toEqual({ kind: 'valid' });
    expect(checkContract(contract, { other: 'x' }).kind).not.toBe('valid');
    const input = { template: '# T\n', document: { title: 'T' }, content };
    expect(renderMarkdown({ ...input, schema: { type: 'object' } }).markdown).toContain(
      'It says something.',
    );
    const reserved = { properties: { [name]: { properties: { by: { 'x-fill': 'own_model' } } } } };
    expect(fillFields(reserved as ContractNode, {}, FILL)).toEqual({ [name]: { by: 'x/a' } });
    const asked = { [name]: { open_questions: ['Who pays?'] } };
    expect(gatherOpenQuestions(asked, { properties: {} })).toHaveLength(1);
    const items = { stage: 's', documentKey: 'd', items: 'tasks', id: name, title: name };
    expect(readWorkItems(items, { tasks: [{ other: 1 }] })[0]!.id).toBe('1');
    expect(readWorkItems(items, { tasks: [{ [name]: 'T1' }] })[0]!.id).toBe('T1');
  });

  test('for a stage, a step and a document', () => {
    const renamed = [...documentedExample()].map(([path, text]) => {
      const rename = (given: string): string => given.replaceAll(/\b(?:propose|verdict)\b/g, name);
      return [rename(path), rename(text)] as const;
    });
    const { calls, byStage } = expectedCounts(loadProcess(documentedExample()), 2);
    const found = expectedCounts(loadProcess(new Map(renamed)), 2);
    expect(found.calls).toBe(calls);
    expect(Object.values(found.byStage)).toEqual(Object.values(byStage));
  });

  test('for a file that the recipe lacks, and for a provider', async () => {
    expect(() => renderLiquid({}, name, {})).toThrow(`The recipe has no file ${name}.`);
    const counter = await loadTokenCounter();
    expect(counter.count(`${name.toLowerCase()}/model`, 'Some words.')).toBeGreaterThan(0);
  });
});

test('a key that would make names too long is refused before anything runs', () => {
  const files = new Map(documentedExample());
  for (const [path, text] of files) files.set(path, text.replaceAll('verdict', 'v'.repeat(101)));
  expect(() => loadProcess(files)).toThrow(/does not match/);
});
