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

test('what most steps of a stage read comes first', () => {
  expect(keys(readingOrder(process, 'b', 'one'))).toEqual(['z', 'y']);
  expect(keys(readingOrder(process, 'b', 'two'))).toEqual(['z', 'x']);
  expect(keys(readingOrder(process, 'b', 'three'))).toEqual(['z', 'one']);
});

test('a later stage begins as an earlier prompt did', () => {
  expect(keys(readingOrder(process, 'c', 'last'))).toEqual(['z', 'y', 'x', 'three']);
});

test('every document that a step reads is in its order once', () => {
  const shipped = shippedWhole('software-plan');
  for (const { key, steps } of shipped.stages) {
    for (const one of steps.filter(({ compute }) => compute === null)) {
      const order = readingOrder(shipped, key, one.key);
      expect(new Set(order).size, one.key).toBe(order.length);
      const read = one.inputs.filter(({ type }) => /document|contribution|header/.test(type));
      const shown = read.filter((input) => input.shown !== false);
      expect(new Set(keys(order)), one.key).toEqual(new Set(shown.map((i) => i.documentKey)));
    }
  }
});
