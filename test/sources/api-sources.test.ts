import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Dialectic } from '../../src/api/dialectic.ts';
import { openDialectic } from '../../src/api/open-dialectic.ts';
import { sourcesCommand } from '../../src/cli/sources.ts';
import { openDatabase } from '../../src/db/open.ts';
import { MOST_ARCHIVED } from '../../src/sources/source-copies.ts';
import { afterTheFile, emptyDatabase, temporaryFolder } from '../stores.ts';

let dialectic: Dialectic;
let folder: string;
let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await emptyDatabase();
  dialectic = await openDialectic({ databaseUrl, environment: {} });
  afterTheFile(() => dialectic.close());
  folder = await temporaryFolder();
  await writeFile(join(folder, 'prices.md'), '# Prices\n\nFlour costs 1.20 euros.\n');
});

const start = (name: string, more: object = {}) =>
  dialectic.start({ brief: 'Bake bread.', name, models: ['offline/builder'], ...more });

test('sources that are given with a run come behind its reference documents', async () => {
  const { project, session } = await start('bakery', {
    resources: [{ kind: 'reference_documents', name: 'rent.txt', text: 'Rent is 900 euros.' }],
    sources: [
      { title: 'Prices', excerpts: ['Flour costs 1.20 euros.'] },
      { title: 'The same', excerpts: ['Rent is 900 euros.'] },
    ],
  });
  const files = Object.entries(await dialectic.files(session));
  const seed = files.find(([path]) => path.endsWith('seed_prompt.md'))?.[1];
  expect(seed).toContain('rent.txt is source S1; it stands with the sources.');
  expect(await dialectic.sources.list(project)).toMatchObject([
    { id: 'S1', title: 'rent.txt', origin: 'reference_documents', characters: 18, uses: 0 },
    { id: 'S2', title: 'Prices', origin: 'given', aliases: [] },
    { id: 'S3', title: 'The same', aliasOf: 'S1' },
  ]);
  expect(await dialectic.sources.show(project, 's1')).toMatchObject({
    excerpts: ['Rent is 900 euros.'],
    citedBy: [],
  });
  await expect(dialectic.sources.show(project, 'S9')).rejects.toThrow(
    'The project has no source S9; it has S1 to S3.',
  );
});

const TEXT =
  'A bakery of three people sells most of its bread before nine in the morning on weekdays';

test('sources that are nearly the same are named, or one from the likeness that is set', async () => {
  const sources = [
    { title: 'One', excerpts: [TEXT] },
    { title: 'Two', excerpts: [`${TEXT} too`] },
  ];
  const { project } = await start('alike', { sources });
  expect(await type('list', '--project', 'alike')).toContain(
    '93 % of S2 is the text of S1. If they are one: dialectic sources merge S2 S1\n',
  );
  await writeFile(join(folder, 'one.txt'), TEXT);
  expect(await type('add', join(folder, 'one.txt'), '--project', 'alike')).toMatch(
    /^S3 {2}.* \(the same as S1; if not: dialectic sources split S3\)\n$/,
  );
  const configuration = { sources: { mergeAt: 0.9 } };
  const other = await openDialectic({ databaseUrl, environment: {}, configuration });
  onTestFinished(() => other.close());
  const [added] = await other.sources.add(project, [{ title: 'Three', excerpts: [`${TEXT} now`] }]);
  expect(added).toMatchObject({ id: 'S1', alias: 'S4', isNew: true });
  expect(await dialectic.sources.list(project)).toMatchObject([
    { id: 'S1', aliases: ['S3', 'S4'] },
    { id: 'S2', near: { id: 'S1' } },
    { id: 'S3', aliasOf: 'S1' },
    { id: 'S4', aliasOf: 'S1' },
  ]);
  await other.sources.split(project, added?.alias ?? '');
  expect((await dialectic.sources.list(project))[3]?.aliasOf).toBeUndefined();
  const run = { brief: 'Bake bread.', name: 'alike too', models: ['offline/builder'], sources };
  const begun = await other.start(run);
  expect((await other.sources.list(begun.project))[1]).toMatchObject({ aliasOf: 'S1' });
});

test('reference documents of a project from before there were ids get them, and a notice says so', async () => {
  const name = 'earlier';
  const resources = [{ kind: 'reference_documents', name: 'old.txt', text: 'An old text.' }];
  const { project } = await start(name, { resources });
  const database = await openDatabase({ databaseUrl }, { backupEveryMs: 0 });
  onTestFinished(() => database.close());
  await database.transaction({ as: 'owner' }, (tx) =>
    tx.query('delete from sources where project_id = $1', [project]),
  );
  expect(await dialectic.sources.list(project)).toMatchObject([{ id: 'S1', title: 'old.txt' }]);
  const notices = (await dialectic.notices()).filter(({ topic }) => topic === `project/${project}`);
  expect(notices).toMatchObject([
    {
      severity: 'warning',
      code: 'sources_numbered',
      message:
        '1 reference document of this project had no id; from now on documents cite S1. ' +
        '`dialectic sources list` shows them.',
    },
  ]);
  expect(await dialectic.sources.list(project)).toHaveLength(1);
  expect(await dialectic.notices()).toHaveLength(1);
});

/** What a verb prints, carried out in this process. */
async function type(...words: string[]): Promise<string> {
  vi.stubEnv('DATABASE_URL', databaseUrl);
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    await sourcesCommand().parseAsync(words, { from: 'user' });
  } finally {
    spy.mockRestore();
    vi.unstubAllEnvs();
  }
  return written.join('');
}

test('the verbs add, list, show, merge and split them', async () => {
  await start('verbs');
  const place = ['--project', 'verbs'];
  expect(await type('list', ...place)).toBe(
    'Project verbs has no sources. Add one with: dialectic sources add FILE\n',
  );
  expect(await type('add', join(folder, 'prices.md'), ...place)).toBe('S1  Prices\n');
  expect(await type('add', join(folder, 'prices.md'), ...place)).toBe('S1  Prices (known)\n');
  await writeFile(join(folder, 'more.md'), '# More\n\nWater is free.\n');
  const added = JSON.parse(await type('add', join(folder, 'more.md'), '--json', ...place));
  expect(added).toEqual([{ id: 'S2', isNew: true, near: [] }]);
  expect(await type('merge', 'S2', 'S1', ...place)).toContain('S2 is the same as S1 now.');
  expect(await type('list', ...place)).toBe(`Project verbs: 2 sources.
  S1  Prices
  S2  the same as S1
Cited by no document: S1
Read one with: dialectic sources show ID
`);
  expect(await type('split', 'S2', ...place)).toBe('S2 is a source of its own again.\n');
  expect(await type('show', 'S1', ...place)).toMatch(
    /^S1 {2}Prices\n {2}added, .*\n {2}archived .*\n\nS1\.e1\n# Prices\n[^]*\n\nCited by no/,
  );
  await expect(type('add', join(folder, 'none.md'), ...place)).rejects.toThrow('none.md');
});

test('what a source was read from is kept byte by byte, and goes into the folder on request', async () => {
  const { session } = await start('archive');
  const place = ['--project', 'archive'];
  const bytes = Buffer.concat([Buffer.from('# Bytes\n\nFlour.\n'), Buffer.from([0xff, 0xfe])]);
  const digest = createHash('sha256').update(bytes).digest('hex');
  await dialectic.sources.add('archive', [
    {
      title: 'Bytes',
      excerpts: ['Flour.'],
      archived: { mediaType: 'text/markdown', base64: bytes.toString('base64') },
    },
    {
      title: 'Large',
      excerpts: ['Large.'],
      archived: {
        mediaType: 'application/pdf',
        base64: Buffer.alloc(MOST_ARCHIVED + 1).toString('base64'),
      },
    },
  ]);
  const shown = await type('show', 'S1', ...place);
  expect(shown).toMatch(/^ {2}archived \d{4}-\d\d-\d\d: text\/markdown, 18 bytes, SHA-256 /m);
  expect(shown).toContain(digest);
  expect(await type('show', 'S2', ...place)).toContain('too large to archive');
  const out = join(folder, 'out');
  await dialectic.export(session, out, { copies: true });
  const file = `S1-${digest.slice(0, 12)}.md.txt`;
  expect(await readFile(join(out, 'general_resource/copies', file))).toEqual(bytes);
  const list = await readFile(join(out, 'general_resource/copies/copies.json'), 'utf8');
  expect(JSON.parse(list)).toMatchObject([
    { source: 'S1', file, size: 18 },
    { source: 'S2', file: null, size: MOST_ARCHIVED + 1 },
  ]);
  const plain = join(folder, 'plain');
  await dialectic.export(session, plain);
  expect(await readdir(join(plain, 'general_resource'))).not.toContain('copies');
});

test('how pages stood is kept with the sources, and shown in lists and in the folder', async () => {
  const { session } = await start('checked');
  const place = ['--project', 'checked'];
  const url = 'https://example.org/flour';
  await dialectic.sources.add('checked', [
    { title: 'Flour', url, excerpts: ['Flour costs 1.20 euros.'] },
    { title: 'Water', url: 'https://example.org/water', excerpts: ['Water is free.'] },
    { title: 'A file', excerpts: ['Salt.'] },
  ]);
  const at = '2026-03-04T05:06:07.000Z';
  await dialectic.sources.recordChecks('checked', [
    { id: 'S1', state: 'changed', at, likeness: 0.5 },
    { id: 'S2', state: 'unchanged', at, likeness: 1 },
  ]);
  // An older look does not replace a newer one.
  const before = '2026-01-01T00:00:00.000Z';
  await dialectic.sources.recordChecks('checked', [{ id: 'S1', state: 'gone', at: before }]);
  expect(await dialectic.sources.list('checked')).toMatchObject([
    { id: 'S1', checked: { state: 'changed', at, likeness: 0.5 } },
    { id: 'S2', checked: { state: 'unchanged' } },
    { id: 'S3' },
  ]);
  expect(await type('list', ...place)).toContain('Checked 2026-03-04: 1 changed (S1), 1 unchanged');
  expect(await type('show', 'S1', ...place)).toContain('  checked 2026-03-04: changed, 50 % alike');
  const page = (await dialectic.files(session))['general_resource/sources.md'];
  expect(page).toContain(`| S1 | Flour |  | <${url}> | 0 places | changed, 2026-03-04 |`);
  expect(page).toContain('| S3 | A file |  |  | 0 places |  |');
});
