import { describe, expect, test } from 'vitest';
import { documentedExample } from '../../test/recipes/documented-example.ts';
import { diffProcesses } from './diff.ts';
import { forkStage } from './edit.ts';
import { forkFiles, withEditorSchemas } from './fork-files.ts';
import { processOfStage } from './lone-stage.ts';
import { parseProcess, parseStage } from './parse.ts';
import { CONTRACT_SCHEMA } from './schemas.ts';

const CHALLENGE = 'challenge/stage.yaml';
const files = (): Map<string, string> => {
  const example = documentedExample();
  return example.set(CHALLENGE, `# Mine.\n${example.get(CHALLENGE)!}\n# Last words.\n`);
};
const process = parseProcess(files()).value!;

describe('forkFiles', () => {
  test('writes what forkStage makes, and leaves all other files alone', () => {
    const forked = forkFiles(files(), process, ['challenge']);
    expect(parseProcess(forked).value).toEqual(forkStage(process, 'challenge'));
    const changed = [...forked].filter(([path, text]) => files().get(path) !== text);
    expect(changed.map(([path]) => path)).toEqual([CHALLENGE]);
    expect(diffProcesses(process, parseProcess(forked).value!)).toEqual([]);
  });

  test('keeps comments and layout: lines are only added', () => {
    const text = forkFiles(files(), process, ['challenge']).get(CHALLENGE)!;
    expect(text).toMatch(/^# Mine\./);
    const lines = text.split('\n');
    const old = files().get(CHALLENGE)!.split('\n');
    expect(old.filter((line) => !lines.includes(line))).toEqual([]);
  });

  test('forks several stages, and a fork of a fork keeps the first origin', () => {
    const both = forkFiles(files(), process, ['propose', 'challenge']);
    const forked = parseProcess(both).value!;
    expect(forked.stages.map((stage) => stage.origin?.stage)).toEqual(['propose', 'challenge']);
    expect(forkFiles(both, forked, ['propose'])).toEqual(both);
  });

  test('a stage on its own has its file at the root', () => {
    const lone = new Map(
      [...files()]
        .filter(([path]) => path.startsWith('propose/'))
        .map(([path, text]) => [path.slice('propose/'.length), text]),
    );
    const stage = parseStage(lone).value!;
    const forked = forkFiles(lone, processOfStage(stage), ['propose']);
    expect(parseStage(forked).value?.origin).toMatchObject({ process: 'propose' });
  });

  test('a file whose steps are aliases is written anew', () => {
    const [first, rest] = files().get('propose/stage.yaml')!.split('steps:\n  - ');
    const odd = `${first}steps:\n  - &one\n    ${rest}`;
    const aliased = files().set('propose/stage.yaml', `${odd}  - *one\n`);
    const twice = parseProcess(aliased).value!;
    expect(parseProcess(forkFiles(aliased, twice, ['propose'])).value).toEqual(
      forkStage(twice, 'propose'),
    );
  });

  test('a stage that is not there is refused', () => {
    expect(() => forkFiles(files(), process, ['gone'])).toThrow(/no stage gone/);
  });
});

test('the schemas for editors come along, and files that name one find it there', () => {
  const contract = 'propose/contracts/proposal.yaml';
  const example = files();
  const named = `# yaml-language-server: $schema=../elsewhere.json\n${example.get(contract)!}`;
  const result = withEditorSchemas(example.set(contract, named));
  expect(result.get(contract)!.split('\n')[0]).toBe(
    '# yaml-language-server: $schema=../../.schemas/contract.schema.json',
  );
  expect(JSON.parse(result.get('.schemas/contract.schema.json')!)).toEqual(CONTRACT_SCHEMA);
  expect(result.get(CHALLENGE)).toBe(example.get(CHALLENGE));
});
