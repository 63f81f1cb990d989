import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { dialecticOnServer, OFFLINE } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

let folder: string;
/** Runs a command in the folder of the test. */
let dialectic: Awaited<ReturnType<typeof dialecticOnServer>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  dialectic = await dialecticOnServer({ cwd: folder });
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays? Two staff.');
  await writeFile(join(folder, 'project.yaml'), 'role: a librarian of forty years\n');
  await writeFile(join(folder, 'session.yaml'), 'standards: [Count the visitors on Saturdays.]\n');
  await writeFile(join(folder, 'wrong.yaml'), 'role: a poet\ntone: dark\n');
});

const readPrompts = async (out: string): Promise<string[]> => {
  const paths = await readdir(join(folder, out), { recursive: true });
  const prompts = paths.filter(
    (path) => /_prompt(_\w+)?\.md$/.test(path) && path.includes('_work'),
  );
  return Promise.all(prompts.map((path) => readFile(join(folder, out, path), 'utf8')));
};

test.each([
  [
    ['-r', 'constraints=brief.md'],
    /no resource kind constraints; software-plan reads .*constraint_b/,
  ],
  [['-p', 'software-plan', '--domain', 'law'], /has no domain law; it has backend, frontend/],
  [['--domain', 'no-such-domain'], /no domain no-such-domain; there are backend, .*public-policy/],
  [['--overlay', 'wrong.yaml'], /wrong\.yaml:2: tone.*known are role, standards, style/],
  [['--project', 'A', '--name', 'B'], /--project or --name/],
])('run %j is refused, with what there is', async (options, message) => {
  const { code, stderr, stdout } = await dialectic('run', 'brief.md', ...OFFLINE, ...options);
  expect(stderr).toMatch(message);
  expect({ code, stdout }).toEqual({ code: expect.any(Number) as number, stdout: '' });
  expect(code).toBeGreaterThan(1);
});

test('two sessions of one project: domain, overlays and stop reach prompts and list', async () => {
  const models = ['-m', 'offline/builder', '--json'];
  const stop = ['--until', 'clarify'];
  const layers = ['--domain', 'business', '--project-overlay', 'project.yaml'];
  const project = ['--project', 'Library'];
  const first = await dialectic('run', 'brief.md', ...project, ...layers, ...stop, ...models);
  expect(first.code, first.stderr).toBe(0);
  expect(JSON.parse(first.stdout)).toMatchObject({
    status: 'awaiting_review',
    awaiting: { reason: 'until', until: 'clarify' },
    calls: 1,
  });
  const second = await dialectic(
    'run',
    ...project,
    ...stop,
    ...models,
    '-p',
    'decision-memo',
    '--overlay',
    'session.yaml',
    '-o',
    'out',
  );
  expect(second.code, second.stderr).toBe(0);
  const prompts = await readPrompts('out');
  expect(prompts.length).toBe(2);
  for (const prompt of prompts) {
    expect(prompt).toContain('You are a librarian of forty years, one of several');
    expect(prompt).toContain('- Give money as a range with the period and the basis.');
    expect(prompt).toContain('Should the library open on Sundays? Two staff.');
  }
  const own = prompts.filter((prompt) => prompt.includes('- Count the visitors on Saturdays.'));
  expect(own.length).toBe(1);
  const [one, two] = [first, second].map(({ stdout }) => JSON.parse(stdout).session as string);
  const lineOf = (id: string): RegExp =>
    new RegExp(
      `^  ${id.slice(-8)}  stopped after clarify  (just now|\\d+ min ago) +decision-memo · .* calls?(, \\d+ documents?)? · \\./\\S+$`,
    );
  const { stdout } = await dialectic('list');
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^Library \(project [0-9a-f]{8}\)$/),
    expect.stringMatching(lineOf(two!)),
    expect.stringMatching(lineOf(one!)),
  ]);
  const resumed = await dialectic('resume', one!, '-o', 'out', '--json');
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(JSON.parse(resumed.stdout)).toMatchObject({
    status: 'completed',
    awaiting: null,
    calls: 5,
  });
  const folders = (await readdir(join(folder, 'out'))).filter((name) =>
    name.startsWith('session_'),
  );
  expect(folders.toSorted()).toEqual(
    [one, two].map((id) => `session_${id!.slice(-12)}`).toSorted(),
  );
}, 240_000);

test('a project is hidden, shown again and deleted, with a word for what was done', async () => {
  const archived = await dialectic('project', 'archive', 'Library');
  expect(archived.stdout).toMatch(
    /^Archived Library\. .* dialectic project unarchive [0-9a-f-]+\n$/,
  );
  expect((await dialectic('list')).stdout).toBe(
    'Sessions of archived projects: 2; dialectic list --all\n',
  );
  expect((await dialectic('list', '--all')).stdout).toMatch(/^Library \(project .*, archived\)\n/);
  const refused = await dialectic('run', '--project', 'Library', '-m', 'offline/builder');
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('unarchive') });
  expect((await dialectic('project', 'unarchive', 'Library')).code).toBe(0);
  expect((await dialectic('list')).stdout).toContain('Library');

  const unasked = await dialectic('project', 'delete', 'Library');
  expect(unasked).toMatchObject({ code: 2, stdout: '' });
  expect(unasked.stderr).toMatch(
    /Delete project Library with 2 sessions and \d+ documents .*--yes/,
  );
  const deleted = await dialectic('project', 'delete', 'Library', '--yes', '--json');
  expect(JSON.parse(deleted.stdout)).toMatchObject({ name: 'Library', sessions: 2 });
  expect((await dialectic('list', '--all')).stdout).toMatch(/^No sessions yet/);
  expect((await dialectic('project', 'delete', 'Library', '--yes')).code).toBe(5);
});

test('runs of one brief can be told apart, and named as the list shows them', async () => {
  const words = ['run', 'brief.md', '-p', 'decision-memo', '--until', 'clarify', ...OFFLINE];
  for (let run = 0; run < 2; run += 1) expect((await dialectic(...words)).code).toBe(0);
  const { stdout } = await dialectic('list');
  expect(stdout.match(/^\S.*/gm)).toEqual([
    expect.stringMatching(/^brief #2 \(project [0-9a-f]{8}\)$/),
    expect.stringMatching(/^brief #1 \(project [0-9a-f]{8}\)$/),
  ]);
  const folders = stdout.match(/\.\/brief-plan\S*/g);
  expect(new Set(folders).size).toBe(2);
  const unclear = await dialectic('project', 'archive', 'brief');
  expect(unclear.code).toBe(2);
  expect(unclear.stderr).toContain('2 projects are called brief. Name one by its number or id:');
  expect(unclear.stderr).toContain('  brief #2\n');
  expect((await dialectic('project', 'archive', 'brief #2')).code).toBe(0);
  expect((await dialectic('list')).stdout).toMatch(/^brief #1 \(/);
});
