import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkContract, describeProblems } from './check-contract.ts';

const schema = {
  type: 'object',
  title: 'Plan',
  required: ['summary', 'features', 'open_questions', 'lineage'],
  properties: {
    summary: { type: 'string', description: 'Short.' },
    features: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          score: { type: 'integer', minimum: 1, maximum: 10 },
        },
      },
    },
    open_questions: { type: 'array', items: { type: 'string' } },
    status: { enum: ['open', 'done'] },
    lineage: { type: 'string', 'x-fill': 'lineage' },
  },
};
const good = {
  summary: 'We build it.',
  features: [{ name: 'Login', score: 7 }],
  open_questions: [],
};
const problemsOf = (over: Record<string, unknown>): string => {
  const check = checkContract(schema, { ...good, ...over });
  return check.kind === 'valid' ? 'valid' : `${check.kind}\n${describeProblems(check.problems)}`;
};

describe('checkContract accepts', () => {
  test.each([
    ['a document with an empty list', {}],
    ['sections that the contract does not know', { extra: { anything: [1] } }],
    ['prose as a list', { summary: ['We', 'build'] }],
    ['a list as a single text', { open_questions: 'Who pays?' }],
    ['a single record for a list of them', { features: { name: 'Login' } }],
    ['a number written as text', { features: [{ name: 'x', score: '7' }] }],
    ['an optional field that is empty', { features: [{ name: 'x', score: null }], status: '' }],
    ['a choice in other letters', { status: 'Open' }],
  ])('%s', (_, over) => {
    expect(problemsOf(over)).toBe('valid');
  });
});

describe('checkContract names', () => {
  test.each([
    [
      'a required text that is empty',
      { summary: ' \n' },
      'invalid\n- `summary` is empty; it must say something.',
    ],
    ['dots in place of a text', { summary: '...' }, '`summary` is empty'],
    [
      'a record in place of a text',
      { summary: { a: 'b' } },
      '`summary` must be a text, not a record.',
    ],
    [
      'a field missing in a record',
      { features: [{ name: 'x' }, { score: 3 }] },
      '`features[1].name` is missing.',
    ],
    [
      'a text in place of a record',
      { features: ['Login'] },
      '`features[0]` must be a record, not a text.',
    ],
    [
      'a number out of range',
      { features: [{ name: 'x', score: 11 }] },
      '`features[0].score` must be at most 10.',
    ],
    [
      'a fraction',
      { features: [{ name: 'x', score: 1.5 }] },
      'must be a whole number, not a number.',
    ],
    ['an unknown choice', { status: 'maybe' }, '`status` must be one of: open, done.'],
  ])('%s', (_, over, message) => {
    expect(problemsOf(over)).toContain(message);
  });

  test('missing sections apart from wrong ones, since going on may bring them', () => {
    expect(checkContract(schema, { summary: 'Yes.' })).toMatchObject({
      kind: 'incomplete',
      missing: ['features', 'open_questions'],
    });
    expect(checkContract(schema, { summary: 1, features: 2 })).toMatchObject({ kind: 'invalid' });
  });

  test('an empty document, whatever its shape', () => {
    for (const empty of [{}, null, [], 'text', { summary: '' }, { summary: null, x: [' '] }]) {
      expect(checkContract(schema, empty).kind).toBe('empty');
    }
  });

  test('too few entries', () => {
    const least = { type: 'object', properties: { a: { type: 'array', minItems: 2 } } };
    expect(checkContract(least, { a: ['x'] })).toMatchObject({ kind: 'invalid' });
  });
});

describe('a contract from a stranger', () => {
  const HOSTILE = [
    '"]; throw new Error("run"); //',
    "'); process.exit(7); ('",
    '`${process.exit(7)}`',
    'a\\u2028b\\n*/ process.exit(7) /*',
    'constructor',
    'hasOwnProperty',
  ];

  test('has its names and choices taken as texts, never as code', () => {
    for (const name of HOSTILE) {
      const field = { type: 'string', enum: [name], title: name };
      const contract = { type: 'object', required: [name], properties: { [name]: field } };
      expect(checkContract(contract, { [name]: name })).toEqual({ kind: 'valid' });
      expect(checkContract(contract, { [name]: 'else' })).toMatchObject({
        problems: [{ path: name, message: `must be one of: ${name}.` }],
      });
      expect(checkContract(contract, { x: 'y' })).toMatchObject({ missing: [name] });
    }
  });

  test('may nest lists in lists without growing with their power', () => {
    const nest = (depth: number): object =>
      depth === 0 ? { type: 'string' } : { type: 'array', minItems: 1, items: nest(depth - 1) };
    const contract = { type: 'object', properties: { deep: nest(30) } };
    expect(checkContract(contract, { deep: 'one text' })).toEqual({ kind: 'valid' });
    expect(checkContract(contract, { deep: [[{ a: 'b' }]] }).kind).toBe('invalid');
  });
});

test('what is wrong as a whole is told once, not again for its parts', () => {
  const owner = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
  const contract = { type: 'object', required: ['owner'], properties: { owner } };
  const tell = (content: object) => checkContract(contract, { x: 'y', ...content });
  expect(tell({ owner: {} })).toMatchObject({
    problems: [{ path: 'owner', message: 'is empty; it must say something.' }],
  });
  expect(tell({ owner: 'Ann' })).toMatchObject({
    problems: [{ path: 'owner', message: 'must be a record, not a text.' }],
  });
});

describe('an echo', () => {
  const header = {
    system_materials: { agent_notes_to_self: 'Write four documents about the bakery, each whole.' },
    context_for_documents: [
      { document_key: 'plan', content_to_include: { summary: 'The market.' } },
    ],
  };

  test('of the header or of the prompt is refused', () => {
    for (const given of [
      header,
      JSON.stringify(header, null, 2),
      `Prompt.\n${JSON.stringify(header)}`,
    ]) {
      expect(checkContract(schema, header, [given]).kind).toBe('echo');
    }
  });

  test('is not found where a document takes sentences from what was given', () => {
    const given = `Intro. ${good.summary} More text. Login is needed. `.repeat(5);
    expect(checkContract(schema, good, [given, header]).kind).toBe('valid');
  });
});

test('never throws, and never calls a document valid that lacks a required section', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('summary', 'features'), (value, left) => {
      expect(() => checkContract(schema, value)).not.toThrow();
      const { [left]: _gone, ...rest } = good as Record<string, unknown>;
      const content =
        typeof value === 'object' && !Array.isArray(value) ? { ...value, ...rest } : rest;
      if (!(left in content)) expect(checkContract(schema, content).kind).not.toBe('valid');
    }),
  );
});
