import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { checkAgainstSchema, type JsonSchema } from '../text/json-schema.ts';
import { CONTRACT_SCHEMA, PROCESS_SCHEMA, STAGE_SCHEMA } from './schemas.ts';

const schemas: readonly [string, JsonSchema, RegExp][] = [
  ['process', PROCESS_SCHEMA, /^process\.yaml$/],
  ['stage', STAGE_SCHEMA, /stage\.yaml$/],
  ['contract', CONTRACT_SCHEMA, /contracts\/.*\.yaml$/],
];
const ajv = new Ajv2020({ allowUnionTypes: true });

describe.each(schemas)('the published schema of a %s', (name, schema, pattern) => {
  const compiled = ajv.compile(schema);
  const examples = [...documentedExample()]
    .filter(([path]) => pattern.test(path))
    .map(([, text]) => parse(text) as unknown);

  test('is the one that the parser uses', () => {
    const published = new URL(`../../recipes/${name}.schema.json`, import.meta.url);
    expect(JSON.parse(readFileSync(published, 'utf8'))).toEqual(schema);
  });

  test('accepts the examples', () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(compiled(example)).toBe(true);
      expect(checkAgainstSchema(schema, example)).toEqual([]);
    }
  });

  test('has a defect named by the parser wherever a plain validator refuses a change', () => {
    const change = fc.record({
      example: fc.constantFrom(...examples),
      at: fc.nat(),
      value: fc.oneof(
        fc.constantFrom('', 'x', 'all', '§', -1, 0, 2, 0.5, true, null),
        fc.jsonValue(),
      ),
      remove: fc.boolean(),
    });
    let refused = 0;
    fc.assert(
      fc.property(change, ({ example, at, value, remove }) => {
        const mutant = mutate(structuredClone(example), at, remove ? undefined : value);
        const ours = checkAgainstSchema(schema, mutant).length === 0;
        if (!ours) refused += 1;
        expect(ours).toBe(compiled(mutant));
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});

/** Replaces, or removes, the n-th node of the value. */
function mutate(value: unknown, at: number, replacement: unknown): unknown {
  const slots: [Record<string, unknown>, string][] = [];
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      slots.push([node as Record<string, unknown>, key]);
      collect((node as Record<string, unknown>)[key]);
    }
  };
  collect(value);
  const [parent, key] = slots[at % slots.length]!;
  if (replacement === undefined && !Array.isArray(parent)) delete parent[key];
  else parent[key] = replacement ?? null;
  return value;
}
