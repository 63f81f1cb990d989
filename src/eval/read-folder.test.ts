import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readDebateFolder, readPlainFolder } from './read-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dialectic-eval-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const INDEX =
  '# Plan\n\nLane 1: `openai/gpt`\n\n## Read first\n\n' +
  '- [master plan](session_1/a%20b.md) · lane 1\n\n## Thesis\n\n- [other](session_1/c.md)\n';

describe('readDebateFolder', () => {
  test('takes the first page, then decide and build, and leaves the record out', async () => {
    await write({
      'project_readme.md': '# First\n\ntwo words',
      'build/plan.md': '---\nmodel: openai/gpt\n---\n\nBuild it.',
      'decide/why.md': 'Because.',
      'decide/why.json': '{}',
      'session_1/thesis.md': 'The record.',
      'Pending/1.md': 'Work.',
    });
    const { files, words, minutes } = await readDebateFolder(folder);
    expect(files).toEqual([
      { name: 'project_readme.md', text: '# First\n\ntwo words' },
      { name: 'decide/why.md', text: 'Because.' },
      { name: 'build/plan.md', text: 'Build it.' },
    ]);
    expect([words, minutes]).toEqual([6, 1]);
  });

  test('counts the lines that stand in two files, whatever marks them as a list', async () => {
    const rule = 'A batch is the greater of plan and reservations';
    await write({
      'project_readme.md': `# First\n\n- ${rule}.\n- ${rule}.\n\nOne more line of some six words.`,
      'decide/why.md': `| ${rule} |\n\nIt says something of its own here.\n\n# First`,
    });
    expect((await readDebateFolder(folder)).repeated).toBeCloseTo(3 / 5, 10);
  });

  test('takes what the readme names first where there is no result, under titles', async () => {
    await write({
      'project_readme.md': INDEX,
      'session_1/a b.md': 'The plan.',
      'session_1/c.md': 'x',
    });
    const { files } = await readDebateFolder(folder);
    expect(files).toEqual([{ name: 'master plan.md', text: 'The plan.' }]);
  });

  test('follows no path out of the folder, and no link', async () => {
    await write({ 'project_readme.md': INDEX.replace('session_1/a%20b.md', '../secret.md') });
    await expect(readDebateFolder(folder)).rejects.toMatchObject({ code: 'path_invalid' });
    await write({ 'project_readme.md': INDEX });
    await mkdir(join(folder, 'session_1'));
    await symlink('/etc/hostname', join(folder, 'session_1/a b.md'));
    await expect(readDebateFolder(folder)).rejects.toMatchObject({ code: 'file_not_text' });
  });

  test('says where a folder is no finished debate', async () => {
    await write({ 'project_readme.md': '# Nothing has been written yet.' });
    await expect(readDebateFolder(folder)).rejects.toThrow(/holds no result/);
  });
});

describe('readPlainFolder', () => {
  test('takes all Markdown, the first page first, and keeps a text between two rules', async () => {
    await write({ 'a.md': '---\nA line\n---\nmore', 'first_page.md': 'Begin.', 'cost.json': '1' });
    const { files } = await readPlainFolder(folder);
    expect(files).toEqual([
      { name: 'first_page.md', text: 'Begin.' },
      { name: 'a.md', text: '---\nA line\n---\nmore' },
    ]);
  });

  test('refuses a folder without any', async () => {
    await write({ 'a.txt': 'x' });
    await expect(readPlainFolder(folder)).rejects.toMatchObject({ code: 'usage_invalid' });
  });
});
