import { describe, expect, test } from 'vitest';
import { toDialect } from './schema-dialect.ts';

const contract = {
  type: 'object',
  'x-kind': 'document',
  required: ['executive_summary', 'risks_&_mitigation'],
  properties: {
    executive_summary: { type: 'string', minLength: 1, description: 'Short.', 'x-place': 1 },
    'risks_&_mitigation': {
      type: 'array',
      items: { type: 'object', properties: { 'who/what': { type: 'string' } } },
    },
  },
};

describe('toDialect', () => {
  test('spells names safely, also in required, and remembers them', () => {
    const { schema, renamed } = toDialect(contract, 'thesis__business_case', 'openai')!;
    expect(schema).toEqual({
      title: 'thesis__business_case',
      type: 'object',
      required: ['executive_summary', 'risks__x26__mitigation'],
      properties: {
        executive_summary: { type: 'string', description: 'Short.' },
        risks__x26__mitigation: {
          type: 'array',
          items: { type: 'object', properties: { who_x2f_what: { type: 'string' } } },
        },
      },
    });
    expect(renamed.get('risks__x26__mitigation')).toBe('risks_&_mitigation');
  });

  test('two names never become one', () => {
    const long = 'ü'.repeat(80);
    const properties = { [`${long}a`]: {}, [`${long}b`]: {} };
    const { schema, renamed } = toDialect({ type: 'object', properties }, 'n', 'google')!;
    expect(Object.keys(schema['properties'] as object)).toHaveLength(2);
    expect(new Set(renamed.values())).toEqual(new Set(Object.keys(properties)));
    for (const safe of renamed.keys()) expect(safe).toMatch(/^[A-Za-z_]\w{0,63}$/);
  });

  test('a property called like a keyword is still a property', () => {
    const schema = { type: 'object', properties: { items: { type: 'string' }, required: {} } };
    expect(toDialect(schema, 'n', 'openai')!.schema['properties']).toEqual({
      items: { type: 'string' },
      required: {},
    });
  });

  test('for Claude objects are closed', () => {
    const { schema } = toDialect(contract, 'n', 'anthropic')!;
    expect(schema).toMatchObject({ additionalProperties: false });
  });

  test('for Claude many optional properties become required: its grammar fails on them', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 11 }, (_, n) => [`p${n}`, { type: 'string' }]),
    );
    const { schema } = toDialect({ type: 'object', properties }, 'n', 'anthropic')!;
    expect(schema['required']).toEqual(Object.keys(properties));
  });

  test('for Claude a free map cannot be said, so no schema is sent', () => {
    const open = { type: 'object', properties: { map: { type: 'object' } } };
    expect(toDialect(open, 'n', 'anthropic')).toBeNull();
    expect(toDialect(open, 'n', 'openai')).not.toBeNull();
  });
});
