import { expect, test } from 'vitest';
import { runDialectic } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

test('a shipped process is not changed: the message has the command that copies it', async () => {
  const place = { cwd: await temporaryFolder() };
  const run = (words: string) => runDialectic(words.split(' '), place);
  const refused = await run('recipe insert decision-memo research --before propose');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('decision-memo is a shipped recipe');
  const [, advised = ''] =
    /with: dialectic (recipe insert .*?)(?: \(|\n)/.exec(refused.stderr) ?? [];
  const inserted = await run(advised);
  expect(inserted, advised).toMatchObject({ code: 0, stderr: '' });
  expect(inserted.stdout).toContain('propose/propose reads clusters, contradictions.');
  expect(inserted.stdout).toContain('dialectic run BRIEF -p ./my-decision-memo');
  expect(await run('recipe validate my-decision-memo')).toMatchObject({ code: 0 });
  const { stdout } = await run('recipe diff my-decision-memo --json');
  expect(JSON.parse(stdout)).toMatchObject({ origin: { name: 'decision-memo' }, outdated: [] });
  expect(await run('recipe merge my-decision-memo')).toMatchObject({ code: 0 });
  expect((await run(advised)).stderr).toContain('is not empty');
});

test.each([
  ['fork', ["Required option '--out <folder>' not specified."]],
  ['fork decision-memo --out mine', ["Required option '--stage <key>' not specified", 'clarify']],
  ['fork --stage propose --out mine', ["Missing required argument 'recipe'."]],
  ['insert', ["Missing required argument 'stage'."]],
  ['insert mine research', ['--before STAGE or --after STAGE']],
  ['show', ["Missing required argument 'recipe'."]],
])('recipe %s names what is missing and shows a line that works', async (line, said) => {
  const { code, stderr } = await runDialectic(['recipe', ...line.split(' ')]);
  expect(code).toBe(2);
  for (const part of said) expect(stderr).toContain(part);
  expect(stderr).toContain(`For example: dialectic recipe ${line.split(' ')[0]} `);
});
