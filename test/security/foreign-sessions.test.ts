import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { WorkerEvent } from '../../src/api/work-on-all.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { openCommand } from '../../src/cli/open.ts';
import { openDatabase } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { openDialectic } from '../../src/index.ts';
import { emptyDirectory, temporaryFolder } from '../stores.ts';

const run = {
  brief: 'Should the library open on Sundays?',
  process: 'decision-memo',
  models: ['offline/builder'],
  until: 'clarify',
};

afterEach(() => vi.restoreAllMocks());

const open = (dataDirectory: string) =>
  openDialectic({ dataDirectory, environment: {}, backupEveryMs: 0 });

/** Everything below a folder, links by name. */
const describeFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => [join(entry.parentPath, entry.name), entry.isFile()] as const)
    .map(([path, isFile]) => (isFile ? `${path} ${readFileSync(path, 'utf8')}` : path))
    .toSorted();

/** A store of somebody else, whose session is said to be written to a folder of the user. */
async function receive(choose: (home: string, outside: string) => string) {
  const [dataDirectory, home] = [await emptyDirectory(), await temporaryFolder()];
  const dialectic = await open(dataDirectory);
  const { session } = await dialectic.start(run);
  await dialectic.close();
  const outside = join(home, 'outside');
  for (const name of ['empty', 'files', 'other', 'listed']) {
    mkdirSync(join(outside, name), { recursive: true });
  }
  writeFileSync(join(outside, 'files', 'project_readme.md'), 'Mine.');
  const claim = (owner: string): string =>
    JSON.stringify({ owner, files: ['project_readme.md'], hashes: {} });
  writeFileSync(join(outside, 'other', '.dialectic-files.json'), claim('another-project'));
  writeFileSync(join(outside, 'listed', '.dialectic-files.json'), '{"files":["a"]}');
  symlinkSync(join(outside, 'empty'), join(home, 'linked'));
  const folder = choose(home, outside);
  const database = await openDatabase({ dataDirectory }, { backupEveryMs: 0 });
  await database.asTenant(LOCAL_TENANT, (tx) =>
    tx.query('update sessions set folder = $1', [folder]),
  );
  await database.close();
  return { dataDirectory, home, session, folder };
}

const FOLDERS: [string, (home: string, outside: string) => string][] = [
  ['an empty folder', (_, outside) => join(outside, 'empty')],
  ['a folder of files of the user', (_, outside) => join(outside, 'files')],
  ['a folder of another project', (_, outside) => join(outside, 'other')],
  ['a folder whose list has no owner', (_, outside) => join(outside, 'listed')],
  ['a link to an empty folder', (home) => join(home, 'linked')],
  ['a folder that is not there', (_, outside) => join(outside, 'autostart')],
  ['a way around', (home) => join(home, 'x/../outside/empty')],
  ['a file', (_, outside) => join(outside, 'files/project_readme.md')],
];

describe('a session of somebody else’s store that names', () => {
  test.each(FOLDERS)('%s writes nothing there', async (_, choose) => {
    const { dataDirectory, home, session } = await receive(choose);
    const before = describeFolder(home);
    const dialectic = await open(dataDirectory);
    const told: string[] = [];
    await dialectic.resume(session, { until: 'clarify' });
    for await (const event of dialectic.work(session)) told.push(event.kind);
    expect(told).toContain('folder-not-written');
    const { folderProblem } = await dialectic.updateFolder(session);
    expect(folderProblem).toMatch(/-o DIR|--out|is a link|is not a folder/);
    await dialectic.close();
    for (const command of [exportCommand(), openCommand()]) {
      const words = ['--data', dataDirectory];
      const verb = command.exitOverride().parseAsync(words, { from: 'user' });
      await expect(verb).rejects.toMatchObject({ code: expect.stringMatching(/^(folder|usage)_/) });
    }
    expect(describeFolder(home)).toEqual(before);
  });

  test('an empty folder gets nothing from a worker for all sessions', async () => {
    const { dataDirectory, home } = await receive((_, outside) => join(outside, 'empty'));
    const before = describeFolder(home);
    const dialectic = await open(dataDirectory);
    const stop = new AbortController();
    const told: WorkerEvent[] = [];
    for await (const event of dialectic.workOnAll({ signal: stop.signal })) {
      told.push(event);
      if (event.kind.startsWith('folder-')) stop.abort();
    }
    await dialectic.close();
    expect(told.map(({ kind }) => kind)).not.toContain('folder-written');
    expect(describeFolder(home)).toEqual(before);
  });

  test('a folder is written where the user names it', async () => {
    const { dataDirectory, session, folder } = await receive((_, outside) =>
      join(outside, 'empty'),
    );
    const dialectic = await open(dataDirectory);
    const result = await dialectic.updateFolder(session, folder);
    await dialectic.close();
    expect(result.folderProblem).toBe(null);
    expect(existsSync(join(folder, 'project_readme.md'))).toBe(true);
  });
});
