import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { shippedWhole } from '../../test/recipes/shipped.ts';
import { readingOrder } from './reading-order.ts';

const keys = (order: readonly string[]): (string | undefined)[] =>
  order.map((source) => source.split('/').at(-1));

const process = processOf('p', [
  stage('a', [
    step('x', 'EXECUTE', 'all_to_one', 'x', ['seed:a/']),
    step('y', 'EXECUTE', 'all_to_one', 'y', ['seed:a/']),
    step('z', 'EXECUTE', 'all_to_one', 'z', ['seed:a/']),
  ]),
  stage('b', [
    step('one', 'EXECUTE', 'all_to_one', 'one', ['doc:a/y', 'doc:a/z']),
    step('two', 'EXECUTE', 'all_to_one', 'two', ['doc:a/x', 'doc:a/z']),
    step('three', 'EXECUTE', 'all_to_one', 'three', ['doc:a/z', 'doc:b/one']),
  ]),
  stage('c', [
    step('last', 'EXECUTE', 'all_to_one', 'last', ['doc:b/three', 'doc:a/z', 'doc:a/y', 'doc:a/x']),
  ]),
]);

test('what most steps read comes first, and the text of the stage before what only one reads', () => {
  expect(keys(readingOrder(process, 'b', 'one'))).toEqual(['z', 'y', 'stage']);
  expect(keys(readingOrder(process, 'b', 'two'))).toEqual(['z', 'stage', 'x']);
  expect(keys(readingOrder(process, 'b', 'three'))).toEqual(['z', 'stage', 'one']);
});

test('a later stage begins as an earlier prompt did', () => {
  expect(keys(readingOrder(process, 'c', 'last'))).toEqual(['z', 'y', 'x', 'three', 'stage']);
});

test('steps that read the same and share a text begin alike', () => {
  const shipped = shippedWhole('software-plan');
  const critique = readingOrder(shipped, 'antithesis', 'antithesis_generate_risk_register');
  const other = readingOrder(shipped, 'antithesis', 'antithesis_generate_dependency_map');
  expect(critique).toContain('text prompts/_reviewing.md');
  expect(other).toEqual(critique);
  const plan = readingOrder(shipped, 'antithesis', 'antithesis_prepare_proposal_review_plan');
  expect(critique.slice(0, plan.length)).toEqual(plan);
});

test('every document that a step reads is in its order once', () => {
  const shipped = shippedWhole('software-plan');
  for (const { key, steps } of shipped.stages) {
    for (const one of steps.filter(({ compute }) => compute === null)) {
      const order = readingOrder(shipped, key, one.key);
      expect(new Set(order).size, one.key).toBe(order.length);
      const read = one.inputs.filter(({ type }) => /document|contribution|header/.test(type));
      const shown = read.filter((input) => input.shown !== false);
      const documents = order.filter((source) => !/^(?:stage$|text )/.test(source));
      expect(new Set(keys(documents)), one.key).toEqual(new Set(shown.map((i) => i.documentKey)));
    }
  }
});
