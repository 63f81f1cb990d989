import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { estimateCommand } from '../../src/cli/estimate.ts';
import { feedbackCommand } from '../../src/cli/review.ts';
import { runCommand } from '../../src/cli/run.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';

const RECIPE = fileURLToPath(new URL('../../recipes/decision-memo', import.meta.url));
let folder: string;
let brief: string;

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  folder = await temporaryFolder();
  vi.stubEnv('DATABASE_URL', await emptyDatabase());
  brief = join(folder, 'brief.md');
  await writeFile(brief, 'Should the library open on Sundays?');
});

afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const call = (command: Command, ...words: string[]): Promise<unknown> =>
  command.exitOverride().parseAsync(words, { from: 'user' });
const OFFLINE = ['-m', 'offline/builder'];
const run = (...words: string[]): Promise<unknown> =>
  call(runCommand(), brief, '-p', 'decision-memo', '--until', 'clarify', ...OFFLINE, ...words);

test('an empty name of a project is refused in our words', async () => {
  const refused = { code: 'usage_invalid', message: expect.stringContaining('is empty') };
  for (const name of ['', '  ']) await expect(run('--name', name)).rejects.toMatchObject(refused);
  await expect(run('--project', '')).rejects.toMatchObject(refused);
});

test.each(['role: "a\\0b"', 'standards: ["\\ud800"]', '"ro\\0le": x'])(
  'an overlay with %s is refused with its place',
  async (text) => {
    const overlay = join(folder, 'overlay.yaml');
    await writeFile(overlay, text);
    const refused = { code: 'recipe_invalid', message: expect.stringContaining('overlay.yaml') };
    await expect(run('--overlay', overlay)).rejects.toMatchObject(refused);
  },
);

test('a document that does not exist is not found, and an empty name is none', async () => {
  await run('--out', join(folder, 'out'));
  for (const document of ['no-such', '00000000-0000-0000-0000-000000000000', 'x\\0', '']) {
    const given = call(feedbackCommand(), 'clarify', 'Fewer.', '-d', document);
    await expect(given, document).rejects.toMatchObject({ code: 'not_found' });
  }
}, 60_000);

test('a prompt that loops to 100 MB is refused by its file and size', async () => {
  const recipe = join(folder, 'recipe');
  await cp(RECIPE, recipe, { recursive: true });
  const seed = join(recipe, 'clarify/prompts/seed.md');
  const loop = `{% for i in (1..10000) %}${'word '.repeat(2_000)}{% endfor %}`;
  await writeFile(seed, `${loop}\n${await readFile(seed, 'utf8')}`);
  const refused = {
    code: 'recipe_invalid',
    message: expect.stringMatching(/seed\.md renders to 1000\d+ characters/),
  };
  const loops = ['-p', recipe, ...OFFLINE];
  await expect(call(runCommand(), brief, ...loops)).rejects.toMatchObject(refused);
  await expect(call(estimateCommand(), brief, ...loops)).rejects.toMatchObject(refused);
});
