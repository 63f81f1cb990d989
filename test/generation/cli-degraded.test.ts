import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { splitFrontMatter } from '../../src/documents/front-matter.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import type { RunResult } from '../../src/session/summary.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { dialecticOnServer, type Ended } from '../run-dialectic.ts';
import { temporaryFolder } from '../stores.ts';
import { type Asked, startScriptedServer } from './scripted-server.ts';

/** Each participant drafts from a plan of its own; then each weighs all drafts. */
const recipe = processOf('debate', [
  stage('draft', [
    step('plan', 'PLAN', 'all_to_one', 'frame', ['seed:draft/']),
    step('write', 'EXECUTE', 'all_to_one', 'draft', ['header:draft/frame']),
  ]),
  stage('weigh', [step('weigh', 'EXECUTE', 'all_to_one', 'verdict', ['doc:draft/draft*@all'])]),
]);

/** A model whose name says so cannot write the draft. */
const answer = ({ model, deliverable }: Asked) =>
  model.includes('broken') && deliverable === 'draft/draft'
    ? { status: 422 }
    : { text: JSON.stringify({ text: `What ${deliverable} has to say, in a sentence.` }) };

type Outcome = {
  readonly run: Ended;
  readonly show: Ended;
  readonly json: RunResult;
  readonly asked: readonly Asked[];
  readonly read: (path: string) => Promise<string>;
};

async function play(models: readonly string[]): Promise<Outcome> {
  const folder = await temporaryFolder();
  const [brief, out] = [join(folder, 'brief.md'), join(folder, 'out')];
  await writeTextFolder(join(folder, 'recipe'), processToFiles(recipe));
  await writeFile(brief, 'A web shop for a bakery.');
  const server = await startScriptedServer(answer, undefined, models);
  const env = { DIALECTIC_BASE_URL: server.url };
  const dialectic = await dialecticOnServer({ cwd: folder, env });
  try {
    const participants = models.flatMap((model) => ['-m', `compatible/${model}`]);
    const place = ['-p', join(folder, 'recipe'), '-o', out, '--allow-degraded'];
    const run = await dialectic('run', brief, ...place, ...participants);
    expect(run.code, run.stderr).toBe(0);
    const show = await dialectic('show');
    const json = JSON.parse((await dialectic('show', '--json')).stdout) as RunResult;
    const read = (path: string): Promise<string> => readFile(join(out, path), 'utf8');
    return { run, show, json, asked: server.served, read };
  } finally {
    await server.stop();
  }
}

const promptOf = ({ messages }: Asked): string => messages.at(-1)!.content;

describe('a participant that cannot write its draft, with --allow-degraded', () => {
  let left: Outcome;
  const gap = 'draft, lane 2 (compatible/broken): Anything not written: ';
  beforeAll(async () => {
    left = await play(['sound', 'broken']);
  }, 120_000);

  test('is named on the screen at the end of the run and by show', () => {
    for (const { stdout } of [left.run, left.show]) {
      expect(stdout).toContain(`Degraded: the run went on without\n  ${gap}`);
      expect(stdout).toContain('status 422 (provider_request_refused)');
    }
    expect(left.show.stdout).toContain('! The run goes on without 1 document. draft, lane 2');
  });

  test('is named in --json with its place and the error', () => {
    expect(left.json.degraded).toBe(true);
    expect(left.json.missing).toMatchObject([
      {
        stage: 'draft',
        step: 'write',
        document: 'draft',
        lane: 2,
        error: { code: 'provider_request_refused' },
      },
    ]);
    const degraded = left.json.documents.filter((one) => one.degraded);
    expect(degraded.map(({ key, lane }) => [key, lane])).toEqual([
      ['verdict', 1],
      ['verdict', 2],
    ]);
  });

  test('is named in readme and settings', async () => {
    expect(await left.read('project_readme.md')).toContain(`- ${gap}`);
    const settings = JSON.parse(await left.read('project_settings.json'));
    expect(settings).toMatchObject({ degraded: true, missing: left.json.missing });
  });

  test('is named in the first line, the front matter and the JSON of each later document', async () => {
    for (const { key, path, dataPath } of left.json.documents.filter((one) => one.path !== null)) {
      const { facts, text } = splitFrontMatter(await left.read(path!));
      const data = JSON.parse(await left.read(dataPath));
      const isLater = key === 'verdict';
      expect(text.startsWith('> **Degraded: written without the following.** draft, lane 2')).toBe(
        isLater,
      );
      expect(facts['degraded']).toBe(isLater ? true : undefined);
      expect(data['_missing']).toEqual(isLater ? left.json.missing : undefined);
    }
  });

  test('is told to the models that come after it, without saying who it is', () => {
    const later = left.asked.filter(({ deliverable }) => deliverable === 'weigh/verdict');
    expect(later).toHaveLength(2);
    for (const asked of later) {
      const lines = promptOf(asked).split('\n');
      const [line, ...others] = lines.filter((one) => one.startsWith('Not available'));
      expect(line).toContain('Anything (draft) of 1 participant. Do not invent');
      expect(others).toEqual([]);
      expect(promptOf(asked)).not.toMatch(/broken|lane 2/);
    }
    const before = left.asked.filter(({ deliverable }) => deliverable !== 'weigh/verdict');
    for (const asked of before) expect(promptOf(asked)).not.toContain('Not available');
  });
});

test('a run that lost nothing is not called degraded anywhere', async () => {
  const left = await play(['sound', 'other']);
  expect(left.json).toMatchObject({ degraded: false, missing: [], missingText: [] });
  for (const { stdout } of [left.run, left.show]) expect(stdout).not.toMatch(/degraded|without/i);
  expect(await left.read('project_readme.md')).not.toMatch(/degraded|missing/i);
  for (const { path } of left.json.documents.filter((one) => one.path !== null)) {
    expect(await left.read(path!)).not.toMatch(/degraded|missing/i);
  }
  for (const asked of left.asked) expect(promptOf(asked)).not.toContain('Not available');
}, 120_000);
