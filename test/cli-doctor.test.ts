import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../src/models/loopback.fixture.ts';
import { runDialectic } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

const packageFile = new URL('../package.json', import.meta.url);

const dialectic = (...parameters: string[]) => runDialectic(parameters);

test('doctor on a file is an error and not a healthy store', async () => {
  const file = join(await temporaryFolder(), 'file');
  writeFileSync(file, '');
  const { code, stdout, stderr } = await dialectic('doctor', '--data', file, '--json');
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'data_directory_unusable' } });
});

type Finding = { check: string; ok: boolean; message: string; next: string | null };

/** The findings of doctor with a configuration of one's own, by their checks. */
async function examine(configuration: object, env: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'home/dialectic'), { recursive: true });
  const file = join(folder, 'home/dialectic/dialectic.config.json');
  await writeFile(file, JSON.stringify(configuration));
  const words = ['doctor', '--data', join(folder, 'data'), '--json'];
  const { code, stdout, stderr } = await runDialectic(words, {
    cwd: folder,
    env: { XDG_CONFIG_HOME: join(folder, 'home'), OPENAI_API_KEY: '', ...env },
  });
  const { findings } = JSON.parse(stdout || stderr) as { findings: Finding[] };
  return { code, found: Object.fromEntries(findings.map((one) => [one.check, one])), stdout };
}

test('doctor says of a fresh store that the first command makes it', async () => {
  const { code, found } = await examine({});
  expect(code).toBe(0);
  expect(found['data directory']).toMatchObject({
    ok: true,
    message: expect.stringContaining('holds no database yet') as string,
    next: expect.stringContaining('the first command') as string,
  });
  expect(found['disk']).toMatchObject({ ok: true });
  expect(found['keys']!.next).toContain('dialectic keys set');
  expect(found['participants']!.next).toContain('participants');
});

test('doctor checks keys, providers, prices and windows, with the next step for each', async () => {
  const server = await startServer((request, response) => {
    const isRight = request.headers.authorization === 'Bearer right-key-of-the-lab';
    response.writeHead(isRight ? 200 : 401).end('{"data":[{"id":"m","max_model_len":4096}]}');
  });
  const lab = { baseUrl: server.url, apiKey: 'right-key-of-the-lab' };
  const price = { input: 3, output: 15 };
  const { code, found, stdout } = await examine(
    {
      participants: ['lab/m', 'lab/n', 'ollama/x'],
      providers: { lab, ollama: { baseUrl: 'http://127.0.0.1:9/v1' } },
      models: { 'lab/m': { price } },
    },
    { OPENAI_API_KEY: 'wrong-key-of-openai', OPENAI_BASE_URL: server.url },
  );
  await server.stop();
  expect(code).toBe(6);
  expect(found['provider lab']).toMatchObject({ ok: true, next: null });
  expect(found['provider openai']).toMatchObject({
    ok: false,
    message: `openai refused the key at ${server.url}/v1 with status 401.`,
    next: expect.stringContaining('dialectic keys set') as string,
  });
  expect(found['provider ollama']!.ok).toBe(false);
  expect(found['keys']!.message).toContain('from OPENAI_API_KEY');
  expect(found['model lab/m']).toMatchObject({
    ok: true,
    message: 'm: a window of 4096 tokens, $3 in, $15 out for a million tokens',
    next: null,
  });
  expect(found['model lab/n']!.message).toBe('n: window unknown, price unknown');
  expect(found['model lab/n']!.next).toContain('Set models.lab/n.windowTokens');
  expect(found['model lab/n']!.next).toContain('models.lab/n.price');
  expect(stdout).not.toContain('key-of');
});

test('doctor names a configuration that cannot be used', async () => {
  const { code, found } = await examine({ jobz: {} });
  expect(code).toBe(6);
  expect(found['configuration']!.message).toContain('jobz is no field');
  expect(found['node']).toMatchObject({ ok: true });
});

test('the help of doctor says which setting wins', async () => {
  const { stdout } = await dialectic('doctor', '--help');
  expect(stdout).toContain('DATABASE_URL overrides DIALECTIC_DATA');
});

test('the version is the one of the package', async () => {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  expect((await dialectic('--version')).stdout.trim()).toBe(version);
});

test('doctor --sql prints what prepares the database of DATABASE_URL, and that alone', async () => {
  const databaseUrl = 'postgres://debates:secret-word@db.example.com/plans';
  const { code, stdout, stderr } = await runDialectic(['doctor', '--sql'], {
    env: { DATABASE_URL: databaseUrl },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain("set local dialectic.database = 'plans';");
  expect(stdout).toContain("set local dialectic.login = 'debates';");
  expect(stdout).not.toContain('secret-word');
  const words = ['doctor', '--sql', '--data', await temporaryFolder()];
  const elsewhere = await runDialectic(words, { env: { DATABASE_URL: databaseUrl } });
  expect(elsewhere.code).toBe(2);
  expect(elsewhere.stderr).toContain('DATABASE_URL');
});
