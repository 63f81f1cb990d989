import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { ExportedDocument } from './export.ts';
import { findPage } from './find-page.ts';
import type { SessionView } from './read.ts';

const lanes = ['a/one', 'b/two'].map((model, at) => ({ id: model, ordinal: at + 1, model }));
const process = processOf('memo', [
  stage('decide', [step('write', 'EXECUTE', 'all_to_one', 'decision', ['seed:decide/'])]),
]);
const documents = lanes.map((lane) => ({
  id: `id-of-${lane.ordinal}`,
  stage: 'decide',
  key: 'decision',
  iteration: 1,
  lane,
  path: `decide/${lane.ordinal}.md`,
})) as unknown as ExportedDocument[];
const files = new Map(documents.map(({ path }) => [path!, `# Page ${path}`]));
const find = (wanted: string, chosenLaneId: string | null) =>
  findPage(
    { id: 'session', process, lanes, chosenLaneId } as unknown as SessionView,
    {
      documents,
      files,
    },
    wanted,
  ).path;

test('after a choice, a document by its key or title is that of the chosen participant', () => {
  expect(find('decision', 'b/two')).toBe('decide/2.md');
  expect(find('Anything', 'a/one')).toBe('decide/1.md');
  expect(find('decision@1', 'b/two')).toBe('decide/1.md');
});

test('before a choice, the participant must be named', () => {
  expect(() => find('decision', null)).toThrow('decision names 2 documents');
});
