import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openDialectic } from '../../src/api/open-dialectic.ts';
import { listBackups, readBackupFailure } from '../../src/db/backup.ts';
import { openDatabase } from '../../src/db/open.ts';
import { restoreStore } from '../../src/db/restore.ts';
import { FileLock } from '../../src/platform/file-lock.ts';
import { afterTheFile, emptyDirectory, temporaryFolder } from '../stores.ts';

const STAMP = '2026-01-01T00-00-00-000Z';
const UNUSABLE = 'data_directory_unusable';

let store: string;
beforeAll(async () => {
  store = await emptyDirectory();
});

/** A data directory as it was received, and a folder of the user that it has no business with. */
type Place = { readonly directory: string; readonly outside: string; in(path: string): string };

async function receive(): Promise<Place> {
  const directory = join(await temporaryFolder(), 'data');
  cpSync(store, directory, { recursive: true });
  const outside = await temporaryFolder();
  for (const name of ['notes.txt', 'sub/keys.json', `${STAMP}.partial/photo`, `${STAMP}/photo`]) {
    mkdirSync(join(outside, name, '..'), { recursive: true });
    writeFileSync(join(outside, name), `The user's own ${name}.`);
  }
  writeFileSync(
    join(outside, STAMP, 'backup.json'),
    '{"createdAt":"2026-01-01T00:00:00.000Z","bytes":1}',
  );
  return { directory, outside, in: (path) => join(directory, path) };
}

/** Every path of a folder with its content. */
const describeFolder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => [join(entry.parentPath, entry.name), entry.isFile()] as const)
    .map(([path, isFile]) => (isFile ? `${path} ${readFileSync(path, 'utf8')}` : path))
    .toSorted();

const pipe = (path: string): void => void execFileSync('mkfifo', [path]);

/** A file that says that it has this size and takes no room. */
function sparse(path: string, bytes: number): void {
  writeFileSync(path, '');
  truncateSync(path, bytes);
}

/** Opens it as every command does, has a backup made at the end, and says how that went. */
async function use(directory: string): Promise<string> {
  try {
    const dialectic = await openDialectic({
      dataDirectory: directory,
      environment: {},
      backupEveryMs: 1,
    });
    await dialectic.list();
    await dialectic.close();
    return 'opens';
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
}

const CASES: readonly (readonly [string, (place: Place) => void, string])[] = [
  [
    'a database that is a link',
    (place) => {
      cpSync(place.in('pgdata'), join(place.outside, 'pgdata'), { recursive: true });
      rmSync(place.in('pgdata'), { recursive: true });
      symlinkSync(join(place.outside, 'pgdata'), place.in('pgdata'));
    },
    UNUSABLE,
  ],
  [
    'a folder of the database that is a link',
    ({ outside, ...place }) => symlinkSync(outside, place.in('pgdata/pg_tblspc/16400')),
    UNUSABLE,
  ],
  [
    'a file of it that is a link',
    ({ outside, ...place }) => symlinkSync(join(outside, 'notes.txt'), place.in('pgdata/global/1')),
    UNUSABLE,
  ],
  ['a pipe in it', (place) => pipe(place.in('pgdata/base/pipe')), UNUSABLE],
  [
    'a pipe for its version',
    (place) => {
      rmSync(place.in('pgdata/PG_VERSION'));
      pipe(place.in('pgdata/PG_VERSION'));
    },
    UNUSABLE,
  ],
  [
    'a recovery by commands',
    (place) => writeFileSync(place.in('pgdata/recovery.signal'), ''),
    UNUSABLE,
  ],
  [
    'a lock that is a link',
    ({ outside, ...place }) => symlinkSync(join(outside, 'lock'), place.in('lock')),
    UNUSABLE,
  ],
  ['a lock that is a pipe', (place) => pipe(place.in('lock')), UNUSABLE],
  [
    'a lock that is a database',
    (place) => writeFileSync(place.in('lock'), 'SQLite format 3\0'),
    UNUSABLE,
  ],
  ['a holder that is a pipe', (place) => pipe(place.in('holder.json')), 'opens'],
  [
    'a holder that is a link',
    ({ outside, ...place }) => symlinkSync(join(outside, 'notes.txt'), place.in('holder.json')),
    'opens',
  ],
  [
    'the name of a holder to come that is a link',
    ({ outside, ...place }) =>
      symlinkSync(join(outside, 'notes.txt'), place.in(`holder.json.${process.pid}`)),
    'opens',
  ],
  [
    'a failed backup that is noted through a link',
    ({ outside, ...place }) => {
      writeFileSync(place.in('backups'), '');
      symlinkSync(join(outside, 'notes.txt'), place.in('backup-failed.json'));
    },
    'opens',
  ],
  [
    'backups that are a link',
    ({ outside, ...place }) => symlinkSync(outside, place.in('backups')),
    'opens',
  ],
  [
    'a backup that is a link',
    ({ outside, ...place }) => {
      mkdirSync(place.in('backups'));
      symlinkSync(join(outside, STAMP), place.in(`backups/${STAMP}`));
    },
    'opens',
  ],
  [
    'a backup whose manifest is a pipe',
    (place) => {
      mkdirSync(place.in(`backups/${STAMP}`), { recursive: true });
      pipe(place.in(`backups/${STAMP}/backup.json`));
    },
    'opens',
  ],
  [
    'a backup whose manifest has eight gigabytes',
    (place) => {
      mkdirSync(place.in(`backups/${STAMP}`), { recursive: true });
      sparse(place.in(`backups/${STAMP}/backup.json`), 8e9);
    },
    'opens',
  ],
  [
    'a socket folder that is a link',
    ({ outside, ...place }) => symlinkSync(outside, place.in('socket')),
    'opens',
  ],
  [
    'settings that read other files and switch fsync off',
    ({ outside, ...place }) => {
      appendFileSync(place.in('pgdata/postgresql.conf'), `include '${outside}/notes.txt'\n`);
      appendFileSync(place.in('pgdata/postgresql.auto.conf'), 'fsync = off\n');
    },
    'opens',
  ],
  [
    'settings that are a pipe',
    (place) => {
      rmSync(place.in('pgdata/postgresql.auto.conf'));
      pipe(place.in('pgdata/postgresql.auto.conf'));
    },
    UNUSABLE,
  ],
];

describe('a data directory of somebody else touches nothing outside of it, and nothing hangs', () => {
  test.each(CASES)('%s', async (_, prepare, expected) => {
    const place = await receive();
    prepare(place);
    const before = describeFolder(place.outside);
    expect(await use(place.directory)).toBe(expected);
    expect(describeFolder(place.outside)).toEqual(before);
  });

  test.each(['pgdata.new', 'pgdata.restoring', `backups/${STAMP}.partial`])(
    'a file of the user in %s is not deleted with what a killed process leaves there',
    async (name) => {
      const place = await receive();
      if (name === 'pgdata.new') rmSync(place.in('pgdata'), { recursive: true });
      mkdirSync(place.in(name), { recursive: true });
      writeFileSync(place.in(`${name}/thesis.tex`), 'Five years of work.');
      expect(await use(place.directory)).toBe(UNUSABLE);
      expect(readFileSync(place.in(`${name}/thesis.tex`), 'utf8')).toBe('Five years of work.');
    },
  );

  test.each(['thesis.tmp/t.doc', '.dialectic-x/t.doc', 'base/thesis.tex', 'pg_wal/drafts/t.doc'])(
    'a file of the user is not deleted as %s among what a killed process leaves',
    async (path) => {
      for (const name of ['pgdata.restoring', `backups/${STAMP}.partial/pgdata`]) {
        const place = await receive();
        cpSync(place.in('pgdata'), place.in(name), { recursive: true });
        mkdirSync(join(place.in(name), path, '..'), { recursive: true });
        writeFileSync(place.in(`${name}/${path}`), 'Five years of work.');
        expect(await use(place.directory)).toBe(UNUSABLE);
        expect(readFileSync(place.in(`${name}/${path}`), 'utf8')).toBe('Five years of work.');
      }
    },
  );

  test('what a killed process leaves of a database goes, with files that it was writing', async () => {
    const place = await receive();
    for (const name of ['pgdata.restoring', `backups/${STAMP}.partial/pgdata`]) {
      cpSync(place.in('pgdata'), place.in(name), { recursive: true });
      for (const file of ['.dialectic-1', 'global/pg_internal.init.7', 'pg_stat/pgstat.tmp']) {
        writeFileSync(place.in(`${name}/${file}`), '');
      }
    }
    expect(await use(place.directory)).toBe('opens');
    expect(existsSync(place.in('pgdata.restoring'))).toBe(false);
    expect(existsSync(place.in(`backups/${STAMP}.partial`))).toBe(false);
  });

  test("a user's note in an old backup keeps that one alone, and doctor says where it lies", async () => {
    const place = await receive();
    const days = [1, 2, 3, 4, 5, 6].map((day) => `2026-01-0${day}T00`);
    for (const day of days) {
      const backup = place.in(`backups/${day}-00-00-000Z`);
      cpSync(place.in('pgdata'), join(backup, 'pgdata'), { recursive: true });
      const manifest = { createdAt: `${day}:00:00.000Z`, bytes: 1 };
      writeFileSync(join(backup, 'backup.json'), JSON.stringify(manifest));
    }
    const note = place.in(`backups/${days[3]}-00-00-000Z/notes.txt`);
    writeFileSync(note, 'Keep this.');
    expect(await use(place.directory)).toBe('opens');
    const kept = readdirSync(place.in('backups'));
    expect(kept).toContain(`${days[3]}-00-00-000Z`);
    expect(kept).not.toContain(`${days[2]}-00-00-000Z`);
    expect(readFileSync(note, 'utf8')).toBe('Keep this.');
    expect(readBackupFailure(place.directory)?.message).toContain(`${note} is not of a backup`);
  });

  test('a backup that holds links brings no file of the user into the store', async () => {
    const place = await receive();
    const backup = place.in(`backups/${STAMP}`);
    mkdirSync(backup, { recursive: true });
    writeFileSync(
      join(backup, 'backup.json'),
      '{"createdAt":"2026-01-01T00:00:00.000Z","bytes":1}',
    );
    cpSync(place.in('pgdata'), join(backup, 'pgdata'), { recursive: true });
    symlinkSync(join(place.outside, 'notes.txt'), join(backup, 'pgdata/global/copied'));
    await expect(restoreStore(place.directory)).rejects.toMatchObject({ code: UNUSABLE });
    expect(existsSync(place.in('pgdata/global/copied'))).toBe(false);
    expect(existsSync(place.in('pgdata.restoring'))).toBe(false);
  });
});

test('what a holder is said to be is neither shown as it is nor waited for', async () => {
  const said = [
    '{"pid":1,"since":"\\u001b]0;owned\\u0007"}',
    '{"pid":-1,"since":"2026-01-01T00:00:00Z"}',
    '{"pid":1e300,"since":"2026-01-01T00:00:00Z"}',
    'null',
    '[',
  ];
  for (const text of said) {
    const place = await receive();
    const lock = new FileLock(place.in('lock'));
    lock.tryTake();
    writeFileSync(place.in('holder.json'), text);
    const opening = openDatabase({ dataDirectory: place.directory });
    await expect(opening).rejects.toMatchObject({
      code: 'data_directory_locked',
      message: `The data directory ${place.directory} is in use by another process.`,
    });
    lock.close();
  }
});

test('a socket that the user did not make gets no request of a second process', async () => {
  const place = await receive();
  const lock = new FileLock(place.in('lock'));
  lock.tryTake();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    socket.write(`${JSON.stringify({ version, pid: 1, callsModels: true })}\n`);
  });
  const ports = [join(place.outside, 'api'), 0];
  const hostile = ports.map(async (port) => {
    const listening = port === 0 ? createServer(() => connections++) : server;
    await new Promise<void>((resolve) => listening.listen(port, () => resolve()));
    afterTheFile(() => listening.close());
    const address = listening.address();
    return typeof address === 'object' && address !== null ? String(address.port) : String(port);
  });
  mkdirSync(place.in('socket'), { mode: 0o700 });
  for (const address of await Promise.all(hostile)) {
    writeFileSync(place.in('socket/address'), address);
    expect(await use(place.directory)).toBe(UNUSABLE);
  }
  rmSync(place.in('socket/address'));
  symlinkSync(join(place.outside, 'api'), place.in('socket/api'));
  expect(await use(place.directory)).toBe(UNUSABLE);
  expect(connections).toBe(0);
  lock.close();
});

test('a database that belongs to another user is not opened', async () => {
  const place = await receive();
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(54_321);
  expect(await use(place.directory)).toBe(UNUSABLE);
  getuid.mockRestore();
  expect(await use(place.directory)).toBe('opens');
});

test.skipIf(process.getuid?.() !== 0)(
  'a directory that belongs to another user is not used',
  async () => {
    const place = await receive();
    const own = 54_321;
    const entries = readdirSync(place.directory, { recursive: true, encoding: 'utf8' });
    for (const entry of entries) lchownSync(place.in(entry), own, own);
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(own);
    lchownSync(place.directory, 12_345, own);
    expect(await use(place.directory)).toBe(UNUSABLE);
    // Those of root are volumes of containers.
    for (const owner of [own, 0]) {
      lchownSync(place.directory, owner, own);
      expect(await use(place.directory)).toBe('opens');
    }
    getuid.mockRestore();
  },
);

test('a folder of backups that cannot be read is refused by name', async () => {
  const place = await receive();
  mkdirSync(place.in('backups'), { recursive: true });
  // Root reads every file; another account does not.
  const isRoot = process.geteuid?.() === 0;
  for (const folder of [dirname(place.directory), place.directory]) chmodSync(folder, 0o755);
  chmodSync(place.in('backups'), 0o000);
  const list = (): unknown => {
    if (isRoot) process.seteuid?.(65_534);
    try {
      return listBackups(place.directory);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  };
  expect(list).toThrow(expect.objectContaining({ code: 'data_directory_unusable' }));
  chmodSync(place.in('backups'), 0o700);
});
