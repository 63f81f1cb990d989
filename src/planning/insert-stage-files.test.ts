import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readFolder } from '../../test/recipes/read-folder.ts';
import { insertStageFiles, mergeFiles } from '../index.ts';
import { loadProcess } from '../recipe/validate.ts';
import { hashProcess } from '../recipe/version.ts';

const read = (name: string): Map<string, string> =>
  readFolder(fileURLToPath(new URL(`../../recipes/${name}`, import.meta.url)));
const plan = read('software-plan');
const research = read('research');

test.each(['thesis', 'antithesis', 'synthesis', 'parenthesis', 'paralysis'])(
  'research fits before %s, and its files say what the result is',
  (before) => {
    const { process, files, wiring } = insertStageFiles(plan, research, { before });
    expect(wiring.length).toBeGreaterThan(0);
    expect(wiring.every(({ stage }) => stage === before)).toBe(true);
    expect(hashProcess(loadProcess(files))).toBe(hashProcess(process));
    const untouched = [...plan].filter(
      ([path]) => !['process.yaml', `${before}/stage.yaml`].includes(path),
    );
    for (const [path, text] of untouched) expect(files.get(path), path).toBe(text);
  },
);

test('behind the last stage nothing reads what it makes', () => {
  const last = loadProcess(plan).stages.at(-1)!.key;
  const { process, wiring } = insertStageFiles(plan, research, { after: last });
  expect(process.stages.at(-1)!.key).toBe('research');
  expect(wiring).toEqual([]);
});

test('a fork with an inserted stage takes a newer origin in and keeps the stage', () => {
  const { files: fork } = insertStageFiles(plan, research, { before: 'thesis' });
  const path = 'antithesis/prompts/header.md';
  const origin = new Map(plan).set(path, `${plan.get(path)!}\nSay it plainly.\n`);
  const merged = mergeFiles({ base: plan, fork, origin });
  expect(merged.conflicts).toEqual([]);
  expect(merged.files.get(path)).toBe(origin.get(path));
  expect(merged.process.stages.map(({ key }) => key).slice(0, 3)).toEqual([
    'clarify',
    'research',
    'thesis',
  ]);
  expect(merged.files.get('thesis/stage.yaml')).toBe(fork.get('thesis/stage.yaml'));
});
