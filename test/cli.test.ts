import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from './stores.ts';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

/** Runs the program as a user would and returns what it leaves behind. */
function dialectic(...parameters: string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const environment = { ...process.env, DATABASE_URL: '' };
    execFile(
      process.execPath,
      [main, ...parameters],
      { env: environment },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

test('demo shows what a tenant sees, on stdout', async () => {
  const { code, stdout, stderr } = await dialectic('demo');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Ada sees 2 events');
  expect(stdout).toContain("Ada writes an event in Bob's name: access_denied.");
});

test('doctor reports as JSON and for people', async () => {
  const data = join(await temporaryFolder(), 'data');
  const json = await dialectic('doctor', '--data', data, '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: true });
  const text = await dialectic('doctor', '--data', data);
  expect(text.stdout).toContain('holds no database yet');
});

test('doctor --restore without a backup names the code and leaves with its exit code', async () => {
  const data = join(await temporaryFolder(), 'data');
  const { code, stderr } = await dialectic('doctor', '--data', data, '--restore', '--json');
  expect(code).toBe(3);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'backup_missing' } });
});

test('wrong usage leaves with 2 and says what is wrong', async () => {
  const { code, stderr, stdout } = await dialectic('dance');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain("unknown command 'dance'");
});

test('a verb of recipe that is used wrongly leaves with 2', async () => {
  const { code, stderr, stdout } = await dialectic('recipe', 'fork', 'research');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain("required option '--out <folder>' not specified");
});
