import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { ERROR_CODES } from '../src/errors/error-codes.ts';
import { type PackedProgram, packProgram, unpackProgram } from './packed.ts';
import { emptyDirectory, temporaryFolder } from './stores.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { engines, version } = JSON.parse(read('package.json'));
const [major, minor] = engines.node.match(/\d+/g).map(Number);

let packed: PackedProgram;
let prefix: string;
let command: string;

beforeAll(async () => {
  const folder = await temporaryFolder();
  packed = await packProgram();
  prefix = join(folder, 'prefix');
  command = await unpackProgram(packed.tarball, prefix);
});

/** Runs the installed command, in a folder outside the clone and without the clone's packages. */
const dialectic = async (...parameters: string[]) =>
  run(process.execPath, [command, ...parameters], {
    cwd: prefix,
    env: { ...process.env, DATABASE_URL: '', NODE_PATH: '' },
  });

const filesUnder = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));

test('the package holds what the program needs at run time, and nothing else', () => {
  const compiled = filesUnder('src').flatMap((path) => {
    if (/\.(test|fixture)\.ts$/.test(path)) return [];
    const target = path.replace(/^src/, 'dist');
    if (!path.endsWith('.ts')) return [target];
    const declared = path.startsWith('src/cli/') ? [] : [target.replace(/\.ts$/, '.d.ts')];
    return [target.replace(/\.ts$/, '.js'), ...declared];
  });
  const expected = [
    'LICENSE',
    'README.md',
    'package.json',
    'bin/dialectic.cjs',
    ...compiled,
    'dist/db/store-image',
    ...filesUnder('recipes'),
    ...filesUnder('examples'),
  ];
  expect(packed.files).toEqual(expected.toSorted());
});

test('the installed command finds its recipes and its database outside the clone', async () => {
  expect((await dialectic('--version')).stdout).toBe(`${version}\n`);
  const { recipes } = JSON.parse((await dialectic('recipe', 'list', '--json')).stdout);
  expect(recipes.map(({ name }: { name: string }) => name)).toContain('decision-memo');
  const data = await emptyDirectory();
  expect((await dialectic('list', '--data', data, '--json')).stdout.trim()).toBe('[]');
});

test('a program that depends on the package imports the public API', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'node_modules'));
  const installed = join(prefix, 'lib/node_modules/dialectic');
  await symlink(installed, join(folder, 'node_modules/dialectic'));
  const program = join(folder, 'program.mjs');
  await writeFile(program, "console.log(typeof (await import('dialectic')).openDialectic);");
  expect((await run(process.execPath, [program])).stdout).toBe('function\n');
});

/** Starts the command as if its Node had another version; there is nothing beside it to load. */
async function startOn(node: string, ...parameters: string[]) {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'bin'));
  await copyFile(join(root, 'bin/dialectic.cjs'), join(folder, 'bin/dialectic.cjs'));
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'));
  const pretend = join(folder, 'pretend.cjs');
  await writeFile(
    pretend,
    `Object.defineProperty(process, 'versions', { value: { node: '${node}' } });`,
  );
  const command = ['-r', pretend, join(folder, 'bin/dialectic.cjs'), ...parameters];
  return run(process.execPath, command).then(
    () => expect.fail('there is no program to start'),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
}

test('a Node that is too old gets one sentence before anything is loaded', async () => {
  for (const old of ['12.22.12', '20.20.2', `${major}.${minor - 1}.9`]) {
    const { code, stdout, stderr } = await startOn(old, 'list');
    expect(code).toBe(ERROR_CODES.node_unsupported.exitCode);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      `dialectic needs Node.js ${major}.${minor} or newer; this is ${old}: install a newer one ` +
        'from https://nodejs.org or with your version manager.\n',
    );
  }
  const { error } = JSON.parse((await startOn('20.20.2', 'list', '--json')).stderr);
  expect(error).toMatchObject({
    code: 'node_unsupported',
    message: expect.stringContaining('this is 20.20.2'),
    action: ERROR_CODES.node_unsupported.action,
    retryable: false,
  });
  for (const enough of [`${major}.${minor}.0`, `${major + 1}.0.0`, '100.1.0']) {
    expect((await startOn(enough)).stderr).toContain('Cannot find module');
  }
});

test('the launcher is written for every Node', () => {
  const code = read('bin/dialectic.cjs').replaceAll(/\/\/.*|\/\*\*.*?\*\/|'[^']*'/gs, '');
  expect(code).not.toMatch(/\b(const|let|class|async|await)\b|=>|\?\.|\?\?|`|\.\.\./);
});

test('README, docs and packages agree on the oldest Node', () => {
  for (const page of ['README.md', 'docs/install.md']) {
    expect(read(page), page).toContain(`Node ${major}.${minor} or newer`);
  }
  const { packages } = JSON.parse(read('package-lock.json'));
  expect(packages[''].engines.node).toBe(engines.node);
  const newer = Object.entries<{ dev?: boolean; engines?: { node?: string } }>(packages).filter(
    ([, { dev, engines: wanted }]) => {
      const [, first, second] = /^>=?\s*(\d+)\.?(\d*)/.exec(wanted?.node ?? '') ?? [];
      return !dev && Number(first) * 1000 + Number(second) > major * 1000 + minor;
    },
  );
  expect(newer).toEqual([]);
});
