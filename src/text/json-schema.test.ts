import { describe, expect, test } from 'vitest';
import { formatPath } from './json-path.ts';
import { checkAgainstSchema, type JsonSchema } from './json-schema.ts';

const schema: JsonSchema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  minProperties: 1,
  properties: {
    name: { type: 'string', minLength: 2, pattern: '^[a-z]+$' },
    kind: { enum: ['plan', 'memo'] },
    version: { const: 1 },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    words: {
      anyOf: [{ type: 'integer' }, { type: 'object', required: ['brief'] }],
      description: 'must be a number or a record',
    },
    either: { type: ['string', 'array'], minItems: 1 },
    'a/b': { type: 'array', items: { $ref: '#/$defs/item' } },
  },
  $defs: { item: { type: 'object', properties: { '0': { type: 'boolean' } } } },
};

const violations = (value: unknown): string[] =>
  checkAgainstSchema(schema, value).map(({ path, message }) => `${formatPath(path)}: ${message}`);

describe('a violation has its path, what was expected and what was found', () => {
  test.each([
    [{ name: 5 }, 'name: must be string, not number'],
    [{ name: 'ab', either: null }, 'either: must be string or array, not null'],
    [{ name: 'ab', kind: 'essay' }, 'kind: must be one of plan, memo'],
    [{ name: 'ab', version: 2 }, 'version: must be 1'],
    [{ name: 'ab', count: 0 }, 'count: must be at least 1'],
    [{ name: 'ab', count: 10 }, 'count: must be at most 9'],
    [{ name: 'ab', count: Number.POSITIVE_INFINITY }, 'count: must be integer, not number'],
    [{ name: 'A1' }, 'name: does not match ^[a-z]+$'],
    [{ name: 'a' }, 'name: must have at least 2 characters'],
    [{ name: 'ab', either: [] }, 'either: must have at least 1 items'],
    [{ kind: 'plan' }, ': lacks the field name'],
    [{ name: 'ab', words: {} }, 'words: must be a number or a record'],
    [{ name: 'ab', 'a/b': [{}, { 0: 'x' }] }, 'a/b[1].0: must be boolean, not string'],
    [[], ': must be object, not array'],
  ])('%j', (value, message) => {
    expect(violations(value)).toEqual([message]);
  });

  test('an unknown field is told which are known', () => {
    expect(violations({ name: 'ab', nmae: 1 })).toEqual([
      'nmae: is not a known field; known are name, kind, version, count, words, either, a/b',
    ]);
  });

  test('all of them are found at once', () => {
    expect(violations({})).toEqual([': must have at least 1 fields', ': lacks the field name']);
    expect(violations({ name: 1, kind: 1, count: 1.5 })).toHaveLength(3);
  });
});

test('a name that every object has is a name like any other', () => {
  const odd: JsonSchema = { type: 'object', required: ['constructor'] };
  expect(checkAgainstSchema(odd, {})).toHaveLength(1);
  expect(checkAgainstSchema(odd, { constructor: 1 })).toEqual([]);
});

test('nothing is fetched for a reference to elsewhere', () => {
  expect(() => checkAgainstSchema({ $ref: 'https://example.com/schema.json' }, 1)).toThrow(
    "can't resolve reference",
  );
});
