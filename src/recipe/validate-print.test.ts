import { expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { checkProcess } from './validate.ts';

const CHALLENGE = 'challenge/stage.yaml';
const INPUT = '{ type: contribution, document_key: judgement, multiple: true }';

/** The example with a last step that prints what this input names. */
function printing(input: string): string[] {
  const files = documentedExample();
  const stage = files
    .get(CHALLENGE)!
    .replace('prompt: prompts/decide.md', 'compute: print')
    .replace(INPUT, input);
  return checkProcess(files.set(CHALLENGE, stage))
    .issues.filter(({ field }) => field.endsWith('.compute'))
    .map(({ code, message }) => `${code}: ${message}`);
}

const REFUSED = [
  'field_invalid: print needs the document that it prints as its first input, required',
];

test.each([
  INPUT,
  '{ type: contribution, document_key: judgement, required: false }',
  '{ type: feedback, document_key: judgement, iteration: previous, required: false }',
])('a step that prints %s is refused', (input) => {
  expect(printing(input).map((issue) => issue.replace(/^(\w+: )step \w+: /, '$1'))).toEqual(
    REFUSED,
  );
});

test('a step that prints one document that is always there is not', () => {
  expect(printing('{ type: contribution, document_key: judgement }')).toEqual([]);
});
