import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadFolder } from '../../src/catalogue/load-recipe.ts';
import { recipeCommand } from '../../src/cli/recipe.ts';
import { hashOf } from '../../src/documents/blobs.ts';
import { writeOwned } from '../../src/documents/owned-folder.ts';
import { readDebateFolder } from '../../src/eval/read-folder.ts';
import { gatherSources } from '../../src/gather/gather-sources.ts';
import { planReplay, readRecordedRun } from '../../src/replay/read-recorded-run.ts';
import { temporaryFolder } from '../stores.ts';

const SECRET = 'The user’s own words, which nobody was to read.';
const EXAMPLE = fileURLToPath(new URL('../../examples/bakery-plan', import.meta.url));
const RECIPE = fileURLToPath(new URL('../../recipes/decision-memo', import.meta.url));

/** A folder that was received, one of the user beside it, and one whose name begins the same. */
async function places() {
  const root = await temporaryFolder();
  const at = (name: string): string => join(root, name);
  for (const path of ['outside/secret.md', 'received-too/secret.md', 'outside/process.yaml']) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), SECRET);
  }
  return { root, at, received: at('received') };
}

const describeFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => `${path} ${readFileSync(path, 'utf8')}`)
    .toSorted();

const pipe = (path: string): void => void execFileSync('mkfifo', [path]);
/** Its name, and whether it was refused by one of our errors, with no word of the secret. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    expect(JSON.stringify(await work)).not.toContain(SECRET);
    return 'read';
  } catch (thrown) {
    const { code, message } = thrown as { code: string; message: string };
    expect(message).not.toContain(SECRET);
    return code;
  }
}

describe('the list of the program’s files in a received folder', () => {
  const OWN = { owner: 'p', hashes: {} };
  const lists: [string, (outside: string) => object][] = [
    ['names files elsewhere', (outside) => ({ ...OWN, files: [`${outside}/secret.md`] })],
    [
      'leads out',
      () => ({ ...OWN, files: ['../outside/secret.md', 'Pending/../../outside/secret.md'] }),
    ],
    ['leads out by codes', () => ({ ...OWN, files: ['Pending/..%2f..%2foutside%2fsecret.md'] })],
    [
      'leads through a link',
      () => ({ ...OWN, files: ['Pending/linked/secret.md', 'linked/secret.md'] }),
    ],
    ['takes a file of the user', () => ({ ...OWN, files: ['Pending/mine.md', 'notes/mine.md'] })],
    [
      'takes one with a wrong hash',
      () => ({ ...OWN, files: ['notes/mine.md'], hashes: { 'notes/mine.md': hashOf('Other.') } }),
    ],
    ['is of another shape', () => ({ owner: 'p', files: { length: 1e9 }, hashes: 7 })],
    ['has no names', () => ({ ...OWN, files: [null, 7, {}, '', '.', '/', '\0'] })],
  ];

  test.each(lists)('that %s costs the user nothing', async (_, list) => {
    const { at, received } = await places();
    for (const folder of ['Pending', 'notes']) {
      mkdirSync(join(received, folder), { recursive: true });
      writeFileSync(join(received, folder, 'mine.md'), 'Mine.');
      symlinkSync(at('outside'), join(received, folder, 'linked'));
    }
    symlinkSync(at('outside'), join(received, 'linked'));
    writeFileSync(join(received, '.dialectic-files.json'), JSON.stringify(list(at('outside'))));
    const before = describeFolder(at('outside'));
    await writeOwned(received, 'p', new Map([['project_readme.md', 'Ours.']])).catch(() => {});
    expect(describeFolder(at('outside'))).toEqual(before);
    const mine = describeFolder(received).filter((line) => line.endsWith(' Mine.'));
    expect(mine).toHaveLength(2);
  });

  test.each(['a pipe', 'a link', 'gigabytes'])('that is %s is refused', async (what) => {
    const { at, received } = await places();
    mkdirSync(received);
    const path = join(received, '.dialectic-files.json');
    if (what === 'a pipe') pipe(path);
    else if (what === 'a link') symlinkSync(at('outside/secret.md'), path);
    else {
      writeFileSync(path, '');
      truncateSync(path, 8e9);
    }
    const outcome = await outcomeOf(writeOwned(received, 'p', new Map([['a.md', 'Ours.']])));
    expect(outcome).toMatch(/^file_(not_text|too_large)$/);
  });
});

/** What can stand in the place of a file or a folder that is read. */
const STAND_INS: [string, (path: string, outside: string) => void][] = [
  ['a link to a file', (path, outside) => symlinkSync(join(outside, 'secret.md'), path)],
  ['a link to a folder', (path, outside) => symlinkSync(outside, path)],
  [
    'a link to a folder whose name begins the same',
    (path, outside) => symlinkSync(join(outside, '../received-too'), path),
  ],
  ['a pipe', (path) => pipe(path)],
  [
    'gigabytes',
    (path) => {
      writeFileSync(path, '');
      truncateSync(path, 8e9);
    },
  ],
];

/** The readers of folders that people pass on, each with places of its folder that it reads. */
const READERS: [string, string, (folder: string) => Promise<unknown>, string[]][] = [
  [
    'a recording',
    EXAMPLE,
    readRecordedRun,
    [
      'project_settings.json',
      'general_resource/sources.json',
      'SESSION',
      'SESSION/recipe',
      'SESSION/recipe/process.yaml',
      'SESSION/iteration_1',
    ],
  ],
  [
    'a debate to judge',
    EXAMPLE,
    readDebateFolder,
    ['project_readme.md', 'decide', 'build', 'SESSION'],
  ],
  [
    'a recipe',
    RECIPE,
    loadFolder,
    ['process.yaml', 'shared', 'propose', 'propose/stage.yaml', 'propose/prompts'],
  ],
  [
    'a folder of sources',
    RECIPE,
    (folder) => gatherSources([folder]),
    ['process.yaml', 'shared', 'propose/stage.yaml'],
  ],
];

describe.each(READERS)('%s', (_, original, read, paths) => {
  const cases = paths.flatMap((path) => STAND_INS.map(([what, put]) => [path, what, put] as const));
  test.each(cases)(
    'with %s as %s brings nothing from elsewhere, and ends',
    async (path, _what, put) => {
      const { at, received } = await places();
      cpSync(original, received, { recursive: true });
      const session = readdirSync(received).find((name) => name.startsWith('session_')) ?? '';
      const place = join(received, path.replace('SESSION', session));
      mkdirSync(dirname(place), { recursive: true });
      rmSync(place, { recursive: true, force: true });
      put(place, at('outside'));
      expect(await outcomeOf(read(received))).toMatch(
        /^(read|file_|path_|recording_|recipe_|folder_|usage_)/,
      );
    },
  );
});

test('a fork keeps its origin in its own folder, and none behind a link', async () => {
  const { at, received } = await places();
  cpSync(RECIPE, received, { recursive: true });
  cpSync(RECIPE, at('origin'), { recursive: true });
  symlinkSync(at('origin'), join(received, '.origin'));
  const before = describeFolder(at('origin'));
  for (const words of [
    ['merge', received],
    ['diff', received],
  ]) {
    const verb = recipeCommand().exitOverride().parseAsync(words, { from: 'user' });
    await expect(verb).rejects.toMatchObject({ code: 'path_invalid' });
  }
  expect(describeFolder(at('origin'))).toEqual(before);
});

describe('the settings of a recording', () => {
  const lanes = (count: number): object[] =>
    Array.from({ length: count }, (_, n) => ({ lane: n + 1, model: `../../m${n}` }));
  const hostile: [string, (settings: Record<string, unknown>) => unknown][] = [
    ['no JSON', () => '['],
    ['brackets without end', () => '['.repeat(5_000_000)],
    ['another kind of value', () => [[]]],
    ['hundreds of participants', (settings) => ({ ...settings, models: lanes(300) })],
    ['no participants', (settings) => ({ ...settings, models: [] })],
    ['a session that is a path', (settings) => ({ ...settings, session: { id: '../../outside' } })],
    [
      'a name that is a path',
      (settings) => ({ ...settings, project: { name: '../outside/secret', domain: null } }),
    ],
    ['the prototype as a project', () => '{"__proto__": {"project": {}}}'],
  ];

  test.each(hostile)('with %s are refused by name', async (_, change) => {
    const { received } = await places();
    cpSync(EXAMPLE, received, { recursive: true });
    const path = join(received, 'project_settings.json');
    const changed = change(JSON.parse(readFileSync(path, 'utf8')));
    writeFileSync(path, typeof changed === 'string' ? changed : JSON.stringify(changed));
    const outcome = await outcomeOf(readRecordedRun(received));
    expect(outcome).toMatch(/^(recording_invalid|folder_unusable)$/);
  });

  test('name no recipe by a folder of the user', async () => {
    const { at, received } = await places();
    cpSync(EXAMPLE, received, { recursive: true });
    cpSync(RECIPE, at('mine'), { recursive: true });
    const session = readdirSync(received).find((name) => name.startsWith('session_'))!;
    rmSync(join(received, session, 'recipe'), { recursive: true, force: true });
    const path = join(received, 'project_settings.json');
    const settings = JSON.parse(readFileSync(path, 'utf8'));
    for (const process of [at('mine'), '../mine', './mine', '.', '']) {
      writeFileSync(path, JSON.stringify({ ...settings, process }));
      const planned = readRecordedRun(received).then((run) => planReplay(run, undefined));
      await expect(planned).rejects.toMatchObject({ code: 'recording_invalid' });
    }
    await expect(planReplay(await readRecordedRun(received), at('mine'))).resolves.toBeDefined();
  });

  test('leave no more than can be kept in memory, whatever its files hold together', async () => {
    await expect(readRecordedRun(EXAMPLE, 100_000)).rejects.toMatchObject({
      code: 'recording_invalid',
      message: expect.stringContaining('more than 100000 characters'),
    });
  });
});

describe('a page that names what to read first', () => {
  test.each([
    '../outside/secret.md',
    '/etc/hostname',
    '%2e%2e/outside/secret.md',
    '..\\outside\\secret.md',
    'linked/secret.md',
    'deep/linked/secret.md',
    'linked.md',
    '%E0%A4%A',
    'deep/../../outside/secret.md',
  ])('leads nowhere else: %s', async (link) => {
    const { at, received } = await places();
    mkdirSync(join(received, 'deep'), { recursive: true });
    symlinkSync(at('outside'), join(received, 'linked'));
    symlinkSync(at('outside'), join(received, 'deep', 'linked'));
    symlinkSync(at('outside/secret.md'), join(received, 'linked.md'));
    const page = `# Plan\n\n## Read first\n\n- [first](${link})\n`;
    writeFileSync(join(received, 'project_readme.md'), page);
    expect(await outcomeOf(readDebateFolder(received))).toMatch(/^(path_invalid|file_not_text)$/);
  });
});
