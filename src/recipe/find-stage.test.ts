import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { requireStage } from './find-stage.ts';

const draft = (key: string) => step('write', 'EXECUTE', 'all_to_one', 'case', [`seed:${key}/`]);
const named = (key: string, name: string) => ({ ...stage(key, [draft(key)]), name });
const process = {
  ...processOf('p', [
    named('thesis', 'Proposal'),
    named('anti_thesis', 'First review'),
    named('second', 'First Review'),
  ]),
  omitted: ['clarify'],
};

test.each([
  ['thesis', 'thesis'],
  ['proposal', 'thesis'],
  [' PROPOSAL', 'thesis'],
  ['anti-thesis', 'anti_thesis'],
  ['out/session_1/iteration_1/2_anti_thesis/documents/x.md', 'anti_thesis'],
])('%s names the stage %s', (wanted, key) => {
  expect(requireStage(process, wanted).key).toBe(key);
});

test('what names two stages, or none, is refused with the stages to choose from', () => {
  expect(() => requireStage(process, 'first review')).toThrow(
    'first review names 2 stages. Take the key of one:\n' +
      '  anti_thesis  First review\n  second  First Review',
  );
  expect(() => requireStage(process, 'propsal')).toThrow(
    /^There is no stage propsal\. Did you mean Proposal\? The stages are:\n {2}thesis {2}Proposal\n/,
  );
  expect(() => requireStage(process, 'clarify')).toThrow(
    /^This run leaves the stage clarify out\./,
  );
});
