import { existsSync, statSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { askSecret } from '../src/cli/ask-secret.ts';
import { startServer } from '../src/models/loopback.fixture.ts';
import { type Ended, runDialectic } from './run-dialectic.ts';
import { CANARY, findFragments } from './security/canaries.ts';
import { temporaryFolder } from './stores.ts';

let folder: string;
let file: string;
let server: Awaited<ReturnType<typeof startServer>>;
const seen: string[] = [];

/** A server that accepts the canary, and repeats whatever key it refuses. */
beforeAll(async () => {
  folder = await temporaryFolder();
  file = join(folder, 'home/dialectic/keys.json');
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays?');
  server = await startServer((request, response) => {
    const key = request.headers.authorization ?? '';
    seen.push(key);
    if (key === `Bearer ${CANARY}`) response.end('{"data":[{"id":"gpt-5"}]}');
    else response.writeHead(401).end(`{"error":{"message":"wrong: ${key}"}}`);
  });
});
afterAll(() => server.stop());
beforeEach(() => {
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'home'));
  vi.stubEnv('OPENAI_BASE_URL', server.url);
  for (const name of ['OPENAI', 'ANTHROPIC', 'GOOGLE', 'OPENROUTER', 'DIALECTIC']) {
    vi.stubEnv(`${name}_API_KEY`, undefined);
  }
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await rm(join(folder, 'home'), { recursive: true, force: true });
});

const keys = (...words: string[]): Promise<Ended> =>
  runDialectic(['keys', ...words], { cwd: folder });

async function setKey(provider: string, key: string): Promise<Ended> {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([key]) as never);
  return keys('set', provider);
}

test('a stored key is used, for its owner alone to read, and never shown', async () => {
  const stored = await setKey('openai', `${CANARY}\n`);
  expect(stored.code, stored.stderr).toBe(0);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'home/dialectic')).mode & 0o777).toBe(0o700);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ openai: CANARY });
  const listed = await keys('list');
  expect(listed.stdout).toBe(`openai: …${CANARY.slice(-4)}, from ${file}\n`);
  const tested = await keys('test', 'openai');
  expect(tested).toMatchObject({ code: 0 });
  expect(tested.stdout).toContain('openai accepts the key and offers 1 model');
  const asJson = await keys('test', '--json');
  const said = [stored, listed, tested, asJson].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  expect(findFragments(said.join('\n'))).toEqual([]);
  const models = await runDialectic(['models', '--json'], { cwd: folder });
  expect(models.stdout).toContain('"openai/gpt-5"');
  expect(findFragments(models.stdout + models.stderr)).toEqual([]);
});

test('a wrong key is told with its place and the remedy, by test and before a run', async () => {
  await setKey('openai', `wrong-${CANARY}`);
  const tested = await keys('test');
  expect(tested.code).toBe(6);
  expect(tested.stdout).toContain(`refused the key at ${server.url}/v1 with status 401`);
  expect(tested.stdout).toContain(`from ${file}`);
  expect(tested.stdout).toContain('dialectic keys set');
  const words = ['run', 'brief.md', '-m', 'openai/gpt-5', '--data', 'unused', '--json'];
  const run = await runDialectic(words, { cwd: folder });
  expect(run.code).toBe(6);
  expect(run.stderr).toContain('provider_auth');
  expect(existsSync(join(folder, 'unused'))).toBe(false);
  expect(findFragments(`${tested.stdout}${tested.stderr}${run.stdout}${run.stderr}`)).toEqual([]);
});

test('the environment wins over a stored key, and set says so', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'from-the-environment-0001');
  const { stdout } = await setKey('openai', CANARY);
  expect(stdout).toContain('OPENAI_API_KEY is set too, and wins over it.');
  expect((await keys('list')).stdout).toBe('openai: …0001, from OPENAI_API_KEY\n');
});

test('remove takes it away, and a provider without a key names its variable', async () => {
  vi.stubEnv('OPENAI_BASE_URL', undefined);
  await setKey('openai', CANARY);
  expect((await keys('remove', 'openai')).stdout).toBe('Removed the key of openai.\n');
  expect((await keys('remove', 'openai')).stdout).toContain('no stored key of openai');
  expect((await keys('list')).stdout).toContain('dialectic keys set PROVIDER');
  const words = ['run', 'brief.md', '-m', 'openai/gpt-5', '--data', 'unused'];
  const { stderr } = await runDialectic(words, { cwd: folder });
  expect(stderr).toContain('set OPENAI_API_KEY, or store one with: dialectic keys set openai');
});

test.each([
  ['an unknown provider', 'opnai', CANARY, 'did you mean openai?'],
  ['nothing on standard input', 'openai', ' \n', 'No key came'],
  ['two lines', 'openai', `${CANARY}\n${CANARY}`, 'holds a line break'],
])('set refuses %s', async (_, provider, key, said) => {
  const ended = await setKey(provider, key);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(said);
  expect(findFragments(ended.stdout + ended.stderr)).toEqual([]);
  expect(existsSync(file)).toBe(false);
});

test('set takes no key from the command line', async () => {
  const ended = await keys('set', 'openai', CANARY);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('history of the shell');
  expect(findFragments(ended.stdout + ended.stderr)).toEqual([]);
});

test.each([
  ['that others can read', JSON.stringify({ openai: CANARY }), 0o644, 4, 'chmod 600'],
  ['that is damaged', `{"openai": "${CANARY}`, 0o600, 2, 'remove it'],
])('a file of keys %s is refused', async (_, text, mode, code, said) => {
  await mkdir(join(folder, 'home/dialectic'), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
  const ended = await keys('list');
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(file);
  expect(ended.stderr).toContain(said);
  expect(findFragments(ended.stderr)).toEqual([]);
});

test('a folder that is not trusted cannot send a stored key elsewhere', async () => {
  vi.stubEnv('OPENAI_BASE_URL', undefined);
  await setKey('openai', CANARY);
  const configuration = join(folder, 'dialectic.config.yaml');
  await writeFile(configuration, `providers: { openai: { baseUrl: "${server.url}" } }`);
  seen.length = 0;
  const { stderr } = await runDialectic(['models'], { cwd: folder });
  await rm(configuration);
  expect(stderr).toContain('sets providers.openai.baseUrl to http://127.0.0.1');
  expect(seen).toEqual([]);
});

test('a key that is typed is not shown', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (text.startsWith('Key')) input.write(`${CANARY}\r`);
  });
  expect(await askSecret('Key: ', { input, output })).toBe(CANARY);
  expect(shown).toBe('Key: \n');
});

test('of a short key nothing is shown, and no empty hint stands in its place', async () => {
  const { stdout } = await setKey('openai', 'short-key');
  expect(stdout).toContain(`Stored the key of openai in ${file}, which only you can read.`);
  expect((await keys('list')).stdout).toBe(`openai: from ${file}\n`);
  expect((await keys('test')).stdout).not.toMatch(/…|\(\s*[,)]/);
});

test('the key of a search service is stored beside them, and is none of a provider', async () => {
  vi.stubEnv('TAVILY_API_KEY', undefined);
  const stored = await setKey('tavily', CANARY);
  expect(stored.code, stored.stderr).toBe(0);
  expect(stored.stdout).not.toContain('keys test');
  expect((await keys('list')).stdout).toBe(`tavily: …${CANARY.slice(-4)}, from ${file}\n`);
  expect(await keys('test', 'tavily')).toMatchObject({ code: 2 });
  expect(await keys('test')).toMatchObject({ code: 2 });
  expect(seen).not.toContain(CANARY);
  vi.stubEnv('TAVILY_API_KEY', 'another-key-of-tavily-0001');
  expect((await keys('list')).stdout).toBe('tavily: …0001, from TAVILY_API_KEY\n');
});
