import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../types.ts';
import { writeDocument } from './author.ts';
import { PERSONA_NAMES } from './personas.ts';
import { BRIEF, buildRequest } from './request.fixture.ts';

const KEYS = `summary risks_&_mitigation features milestones scores rankings rank option_id id title
  status deps requirements open_questions weight context_for_documents document_key completed
  index path phase dimensions preferred priority data_sources résumé 要約 x`.split(/\s+/);

const { schema } = fc.letrec<{ schema: JsonSchema; object: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.record({ type: fc.constant('string'), minLength: fc.integer({ min: 0, max: 300 }) }),
    fc.constant({ type: 'string' }),
    fc.constant({ type: ['string', 'null'], description: 'Why it matters, 1 to 3.' }),
    fc.constant({ type: 'boolean' }),
    fc.constant({}),
    fc
      .uniqueArray(fc.constantFrom('low', 'high', 'todo', 'M1', 'done'), { minLength: 1 })
      .map((values) => ({ enum: values })),
    fc
      .tuple(fc.integer({ min: -5, max: 20 }), fc.integer({ min: 0, max: 20 }))
      .map(([minimum, more]) => ({ type: 'integer', minimum, maximum: minimum + more })),
    fc.constant({ type: 'number', minimum: 0, maximum: 1 }),
    fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      minItems: fc.integer({ min: 0, max: 7 }),
    }),
    tie('object'),
  ),
  object: fc
    .dictionary(fc.constantFrom(...KEYS), tie('schema'), { minKeys: 1, maxKeys: 5 })
    .map(toObject),
}));

function toObject(properties: Record<string, JsonSchema>): JsonSchema {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

const contracts = fc
  .dictionary(fc.constantFrom(...KEYS), schema, { minKeys: 1, maxKeys: 6 })
  .map(toObject);
const briefs = fc.oneof(
  fc.constant(BRIEF),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const ajv = new Ajv({ strict: false, unicodeRegExp: false });

test('what the author writes fulfils any contract, whatever the brief', () => {
  fc.assert(
    fc.property(contracts, briefs, fc.constantFrom(...PERSONA_NAMES), (own, brief, persona) => {
      const text = JSON.stringify({ milestones: [{ id: 'M1', title: brief }], summary: brief });
      const parts = [{ key: 'plan', label: 'A', text }];
      const request = buildRequest('plan/document', own, { brief, parts });
      const written = JSON.parse(writeDocument(request, persona)) as unknown;
      const fits = ajv.validate(own, written);
      expect(ajv.errors ?? []).toEqual([]);
      expect(fits).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('with a brief in words, no required section is empty', () => {
  fc.assert(
    fc.property(contracts, (own) => {
      const written = JSON.parse(
        writeDocument(buildRequest('plan/document', own), 'steward'),
      ) as unknown;
      expect(findBlank(written)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});

/** Paths of texts and records that say nothing; an empty list is an answer. */
function findBlank(value: unknown, path = ''): string[] {
  if (value === null || value === '') return [path];
  if (Array.isArray(value)) return value.flatMap((one, at) => findBlank(one, `${path}[${at}]`));
  if (typeof value !== 'object') return [];
  const fields = Object.entries(value);
  if (fields.length === 0) return [path];
  return fields.flatMap(([key, one]) => findBlank(one, `${path}.${key}`));
}
