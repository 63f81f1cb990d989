import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { toDialecticError } from '../errors/errors.ts';
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

test('documents that are called alike are told apart, and the verb that lists them is named', () => {
  const twice = ['00000000-aaaaaaaa', '00000000-bbbbbbbb'].map((id) => ({ ...documents[0]!, id }));
  const session = { id: '00000000-0123456789ab', process, lanes } as unknown as SessionView;
  let thrown: unknown;
  try {
    findPage(session, { files, documents: twice }, 'nothing');
  } catch (error) {
    thrown = error;
  }
  const { code, message, action } = toDialecticError(thrown);
  expect(code).toBe('not_found');
  expect(message.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^ {2}aaaaaaaa {2}decision@1 /),
    expect.stringMatching(/^ {2}bbbbbbbb {2}decision@1 /),
  ]);
  expect(action).toContain('`dialectic show 456789ab --all` lists the documents.');
});

test('a key means the document that has it, although a draft has the same title', () => {
  const [first] = documents;
  const draft = { ...first!, id: 'id-of-draft', key: 'draft', path: 'decide/draft.md' };
  const steps = ['draft', 'decision'].map((key) =>
    step(key, 'EXECUTE', 'all_to_one', key, ['seed:decide/']),
  );
  const session = {
    id: 'session',
    process: processOf('memo', [stage('decide', steps)]),
    lanes,
    chosenLaneId: 'a/one',
  } as unknown as SessionView;
  const all = { documents: [draft, first!], files: new Map([...files, [draft.path, '# Draft']]) };
  expect(findPage(session, all, 'decision').path).toBe('decide/1.md');
  expect(findPage(session, all, 'decide/decision@1').path).toBe('decide/1.md');
  expect(() => findPage(session, all, 'Anything')).toThrow('Anything names 2 documents');
});
