import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { emptyDirectory, temporaryFolder } from '../stores.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const index = join(root, 'src/index.ts');
const [, example] = /```ts\n(.*?)```/s.exec(readFileSync(join(root, 'docs/library.md'), 'utf8'))!;

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

test('the example of docs/library.md fits the types of the API', async () => {
  await writeFile(join(folder, 'example.mts'), example!);
  const compilerOptions = {
    paths: { dialectic: [index] },
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const tsconfig = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    files: ['example.mts'],
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ ...tsconfig, include: [], exclude: [] }),
  );
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
}, 60_000);

test('the example of docs/library.md runs and leaves its folder', async () => {
  await emptyDirectory(join(folder, 'data'));
  const program = join(folder, 'program.mts');
  await writeFile(program, example!.replace("'dialectic'", `'${index}'`));
  const { stdout, stderr } = await run(process.execPath, [program], { cwd: folder });
  expect(stderr).toBe('');
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toMatch(/^about \d+ calls, \$0$/);
  expect(lines).toContain('decision by offline/skeptic');
  expect(lines.at(-1)).toMatch(/^completed The results follow .* 0$/);
  expect(await readFile(join(folder, 'memo/project_readme.md'), 'utf8')).toContain('Sundays');
}, 60_000);
