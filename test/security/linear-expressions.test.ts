import { expect, test } from 'vitest';
import { builtExpressions, countBuilt, literalExpressions } from './expressions.ts';
import { findSlow } from './find-slow.ts';

test('every expression that src/ writes takes time in proportion to its text', () => {
  const literals = literalExpressions();
  expect(literals.length).toBeGreaterThan(200);
  expect(findSlow(literals)).toEqual([]);
});

test('so does every expression that src/ builds', async () => {
  const built = await builtExpressions(async () => {
    const { loadProcess } = await import('../../src/recipe/validate.ts');
    const { documentedExample } = await import('../recipes/documented-example.ts');
    loadProcess(documentedExample());
    const { createNameRestorer } = await import('../../src/models/restore-names.ts');
    createNameRestorer(new Map([['section_1', 'Section 1']]));
    const { dataWriter } = await import('../../src/text/prompt-data.ts');
    dataWriter(['source', 'user_request']);
    const { secretsFilter } = await import('../../src/models/hide-secrets.ts');
    secretsFilter({ apiKey: 'sk-aaaaaaaaaaaaaaaa/+aaaa' });
  });
  const files = new Set(built.map(({ place }) => place));
  expect([...countBuilt().keys()].filter((file) => !files.has(file))).toEqual([]);
  expect(findSlow(built)).toEqual([]);
});

test('an expression that is not linear is found', () => {
  const slow = [/\s+$/, /(`+)(?!`)(?:.*?[^`])?\1(?!`)/g, /^(?:a+)+$/, /<[^>]*>/g];
  expect(findSlow(slow.map((expression) => ({ place: 'x', expression })))).toHaveLength(4);
});
