import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject, vi } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

/** What `npm pack` made. */
export type PackedProgram = { readonly tarball: string; readonly files: readonly string[] };

type PackReport = { readonly filename: string; readonly files: readonly { path: string }[] };

/**
 * Builds and packs the package, as for a release, once for the whole run: the first caller of any
 * process does it, the others wait for what it reports.
 */
export async function packProgram(): Promise<PackedProgram> {
  const folder = inject('packFolder');
  const report = join(folder, 'packed.json');
  const isFirst = await mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'EEXIST',
  );
  if (isFirst) {
    const packed = await pack(folder).catch(async (error: unknown) => {
      await writeFile(report, 'null');
      throw error;
    });
    await writeFile(`${report}.part`, JSON.stringify(packed));
    await rename(`${report}.part`, report);
  }
  await vi.waitUntil(() => existsSync(report), { timeout: 120_000, interval: 100 });
  const packed = JSON.parse(await readFile(report, 'utf8')) as PackedProgram | null;
  if (packed === null) throw new Error('another test could not pack the program');
  return packed;
}

async function pack(folder: string): Promise<PackedProgram> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    // The build's own lines would stand before the report.
    env: { ...process.env, npm_config_foreground_scripts: 'false' },
  });
  const [report] = Object.values(JSON.parse(stdout) as Record<string, PackReport>);
  if (report === undefined) throw new Error(`npm pack reported nothing: ${stdout}`);
  const files = report.files.map(({ path }) => path).toSorted();
  return { tarball: join(folder, report.filename), files };
}

/**
 * Lays a packed program out under `prefix` as `npm install --global` does, without a registry: the
 * packages that it declares as dependencies, and no others, are links to those of the clone. Returns
 * the command.
 */
export async function unpackProgram(tarball: string, prefix: string): Promise<string> {
  const modules = join(prefix, 'lib/node_modules');
  await mkdir(modules, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', modules]);
  const folder = join(modules, 'dialectic');
  await rename(join(modules, 'package'), folder);
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { bin, dependencies } = JSON.parse(text) as Record<string, Record<string, string>>;
  for (const name of Object.keys(dependencies!)) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link);
  }
  const command = join(prefix, 'bin/dialectic');
  await mkdir(dirname(command));
  await symlink(join(folder, bin!['dialectic']!), command);
  return command;
}
