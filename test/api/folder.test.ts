import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { WorkerEvent } from '../../src/api/work-on-all.ts';
import { describeFolderNews } from '../../src/cli/worker-text.ts';
import { type Dialectic, openDialectic, type RunResult } from '../../src/index.ts';
import { afterTheFile, emptyDirectory, temporaryFolder } from '../stores.ts';

const run = {
  brief: 'Should the library open on Sundays?',
  process: 'decision-memo',
  models: ['offline/builder'],
  until: 'clarify',
};
let dialectic: Dialectic;
let home: string;

beforeAll(async () => {
  home = await temporaryFolder();
  const dataDirectory = await emptyDirectory();
  dialectic = await openDialectic({ dataDirectory, environment: {}, backupEveryMs: 0 });
  afterTheFile(() => dialectic.close());
});

const readme = (folder: string): Promise<string> =>
  readFile(join(folder, 'project_readme.md'), 'utf8');

/** Works on a session until it rests; returns what came of it and how often a folder failed. */
async function work(session: string): Promise<{ result: RunResult; told: number }> {
  let told = 0;
  for await (const event of dialectic.work(session)) {
    if (event.kind === 'folder-not-written') told += 1;
    if (event.kind === 'run-rested') return { result: event.result, told };
  }
  throw new Error('the run never rested');
}

test('a session keeps its folder up to date, and another one when it is named', async () => {
  const [first, second] = [join(home, 'first'), join(home, 'second')];
  const { session } = await dialectic.start({ ...run, out: first });
  const { result } = await work(session);
  expect(result).toMatchObject({ folder: first, folderProblem: null });
  expect(existsSync(result.documents[0]!.dataPath)).toBe(true);
  expect(await readme(first)).toContain('stopped after clarify');

  await dialectic.feedback(session, { stage: 'clarify', text: 'Ask the neighbours.' });
  await dialectic.updateFolder(session);
  const names = await readdir(first, { recursive: true });
  expect(names.some((name) => name.includes('feedback'))).toBe(true);

  const copy = await dialectic.export(session, join(home, 'copy'));
  expect(copy.folder).toBe(first);
  await writeFile(join(home, 'note.md'), 'Mine.');
  const refused = { code: 'folder_occupied' };
  await expect(dialectic.resume(session, { out: home })).rejects.toMatchObject(refused);
  await expect(dialectic.updateFolder(session, home)).rejects.toMatchObject(refused);
  expect((await dialectic.find(session)).folder).toBe(first);

  await dialectic.resume(session, { until: 'propose', out: second });
  expect((await work(session)).result.folder).toBe(second);
  expect(await readme(second)).toContain('stopped after propose');
  for (const old of [first, join(home, 'copy')]) {
    expect(await readme(old)).toContain('stopped after clarify');
  }
}, 60_000);

test('a folder that was moved or deleted is told, fails nothing, and can be named again', async () => {
  const [folder, moved] = [join(home, 'moving'), join(home, 'moved')];
  const { session } = await dialectic.start({ ...run, out: folder });
  await work(session);
  await rename(folder, moved);
  await dialectic.resume(session, { until: 'propose' });
  const lost = await work(session);
  expect(lost.told).toBe(1);
  expect(lost.result).toMatchObject({ standing: 'stopped after propose', folder });
  expect(lost.result.folderProblem).toContain(`${folder} is not there: it was moved or deleted`);
  expect(existsSync(folder)).toBe(false);

  expect((await dialectic.export(session, moved)).folder).toBe(moved);
  expect(await readme(moved)).toContain('stopped after propose');
  expect((await dialectic.updateFolder(session)).folderProblem).toBeNull();
}, 60_000);

test('a file in the way is told and kept, and the run goes on', async () => {
  const out = join(home, 'in-the-way');
  const { session } = await dialectic.start({ ...run, out });
  await writeFile(join(out, 'project_readme.md'), 'Mine.');
  const { result } = await work(session);
  expect(result).toMatchObject({ standing: 'stopped after clarify', folder: out });
  expect(result.folderProblem).toContain('project_readme.md is not a file of an earlier export');
  expect(await readme(out)).toBe('Mine.');
  await rm(join(out, 'project_readme.md'));
  expect((await dialectic.updateFolder(session)).folderProblem).toBeNull();
}, 60_000);

test('two exports of one project at a time leave the newer texts and a whole list', async () => {
  const out = join(home, 'shared');
  const { session } = await dialectic.start({ ...run, out });
  await work(session);
  const before = dialectic.updateFolder(session);
  await dialectic.feedback(session, { stage: 'clarify', text: 'Mind the noise.' });
  await Promise.all([before, dialectic.updateFolder(session)]);
  const listed = JSON.parse(await readFile(join(out, '.dialectic-files.json'), 'utf8'));
  const there = Object.keys(await dialectic.files(session));
  expect(listed.files.toSorted()).toEqual(there.toSorted());
  expect(await readdir(out, { recursive: true })).toEqual(expect.arrayContaining(there));
}, 60_000);

test('a worker for all sessions writes the folders that are on its machine', async () => {
  const [own, away] = [join(home, 'worked'), join(home, 'away')];
  const { session } = await dialectic.start({ ...run, out: own });
  const { session: other } = await dialectic.start({ ...run, out: away });
  const { session: bare } = await dialectic.start(run);
  await rm(away, { recursive: true });
  const stop = new AbortController();
  const told: WorkerEvent[] = [];
  for await (const event of dialectic.workOnAll({ signal: stop.signal })) {
    told.push(event);
    const all = await Promise.all([session, other, bare].map((id) => dialectic.find(id)));
    if (all.every(({ standing }) => standing === 'stopped after clarify')) stop.abort();
  }
  expect(await readme(own)).toContain('stopped after clarify');
  const folders = told.filter((event) => event.kind.startsWith('folder-'));
  expect(folders).toContainEqual({ kind: 'folder-written', session, folder: own });
  const lost = folders.filter((event) => 'session' in event && event.session === other);
  expect(lost).toEqual([
    { kind: 'folder-not-written', session: other, folder: away, message: expect.any(String) },
  ]);
  expect(lost.map(describeFolderNews as (event: WorkerEvent) => string)[0]).toContain(
    `${away} is not there: it was moved or deleted, or is on another machine. ` +
      `Write it again with: dialectic export ${other}`,
  );
  expect(existsSync(away)).toBe(false);
  expect(folders.some((event) => 'session' in event && event.session === bare)).toBe(false);
}, 60_000);
