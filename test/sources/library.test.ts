import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../stores.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const docs = readFileSync(join(root, 'docs/sources.md'), 'utf8');

test('the example of docs/sources.md prints what stands below it', async () => {
  const [, example = '', printed] = /```ts\n(.*?)```.*?```\n(.*?)```/s.exec(docs) ?? [];
  const folder = await temporaryFolder();
  const program = join(folder, 'program.mts');
  await writeFile(program, example.replace("'dialectic'", `'${join(root, 'src/index.ts')}'`));
  const { stdout, stderr } = await run(process.execPath, [program], { cwd: folder });
  expect(stderr).toBe('');
  expect(stdout.trimEnd()).toBe(printed?.trimEnd());
}, 60_000);
