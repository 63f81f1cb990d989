import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { nameParticipants } from '../src/cli/participants.ts';
import { startScriptedServer } from './generation/scripted-server.ts';
import { type Ended, runDialectic } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

let folder: string;
let home: string;
let server: Awaited<ReturnType<typeof startScriptedServer>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  home = join(folder, 'home/dialectic');
  await mkdir(home, { recursive: true });
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays?');
  server = await startScriptedServer(() => ({ status: 500 }));
  const gone = await startScriptedServer(() => ({}));
  await gone.stop();
  nowhere = Object.fromEntries(
    ['OLLAMA', 'LLAMACPP', 'VLLM'].map((name) => [`${name}_BASE_URL`, `${gone.url}/v1`]),
  );
});
afterAll(() => server.stop());

/** Nothing answers where local servers are looked for, whatever runs on this machine. */
let nowhere: Readonly<Record<string, string>>;
beforeEach(() => {
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'home'));
  for (const name of ['OPENAI', 'ANTHROPIC', 'GOOGLE', 'OPENROUTER', 'DIALECTIC']) {
    vi.stubEnv(`${name}_API_KEY`, undefined);
  }
  return () => vi.unstubAllEnvs();
});

const dialectic = (env: Readonly<Record<string, string>>, ...words: string[]): Promise<Ended> =>
  runDialectic([...words, '--data', 'unused', '--json'], {
    cwd: folder,
    env: { ...nowhere, ...env },
  });
const memo = ['-p', 'decision-memo'];
const errorOf = ({ stderr }: Ended): { code: string; message: string; action: string } =>
  JSON.parse(stderr.trim().split('\n').at(-1)!).error;

test('without models a run says where it looked and how to see one, and writes nothing', async () => {
  const ended = await dialectic({}, 'run', 'brief.md', ...memo);
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 2, stdout: '' });
  const { code, message, action } = errorOf(ended);
  expect(code).toBe('models_not_found');
  expect(`${message}${action}`.match(/dialectic keys set/g)).toHaveLength(1);
  expect(message).toContain('OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_API_KEY');
  expect(message).toContain('DIALECTIC_BASE_URL');
  expect(message).toContain(`ollama cannot be used at ${nowhere['OLLAMA_BASE_URL']}: nothing`);
  expect(message).toContain('dialectic demo');
  expect(message).toContain(
    'dialectic run brief.md --process decision-memo --data unused --json -m offline/builder',
  );
  expect(existsSync(join(folder, 'unused'))).toBe(false);
});

test('models that can be reached are proposed with their price, and taken by nobody', async () => {
  const ended = await dialectic({ DIALECTIC_BASE_URL: server.url }, 'run', 'brief.md', ...memo);
  expect(ended.code).toBe(2);
  const { code, message } = errorOf(ended);
  expect(code).toBe('models_not_chosen');
  expect(message).toContain('compatible/scripted: its price is unknown');
  expect(message).toMatch(/Estimate: \d+ calls, .* price unknown/);
  expect(message).toContain('-m compatible/scripted -m compatible/scripted');
  expect(server.served).toEqual([]);
  expect(existsSync(join(folder, 'unused'))).toBe(false);
});

const run = { brief: 'Open on Sundays?', models: [], process: 'decision-memo' };
const command = () => new Command('run').option('--depth <depth>');

/** A server is set up, and nothing else. */
function stubServer(): void {
  for (const [name, url] of Object.entries(nowhere)) vi.stubEnv(name, url);
  vi.stubEnv('DIALECTIC_BASE_URL', server.url);
}

test('--yes takes them', async () => {
  stubServer();
  const { models } = await nameParticipants(run, command(), 'given');
  expect(models).toEqual(['compatible/scripted', 'compatible/scripted']);
});

test.each([
  ['y', { models: ['compatible/scripted', 'compatible/scripted'] }],
  ['n', { code: 'models_not_chosen' }],
  ['', { code: 'models_not_chosen' }],
])('a person who answers %o decides', async (typed, outcome) => {
  stubServer();
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (shown.endsWith('[y/N] ')) input.write(`${typed}\n`);
  });
  const named = nameParticipants(run, command(), { input, output });
  expect(await named.catch((error: unknown) => error)).toMatchObject(outcome);
  expect(shown).toContain('Let them debate this brief?');
});

test('the participants of the user’s own configuration are taken without a question', async () => {
  const file = join(home, 'dialectic.config.yaml');
  await writeFile(file, 'participants: [offline/builder, offline/steward]\n');
  const named = await nameParticipants(run, command(), null);
  expect(named.models).toEqual(['offline/builder', 'offline/steward']);
  await writeFile(file, 'participants: []\n');
  await expect(nameParticipants(run, command(), null)).rejects.toMatchObject({
    code: 'usage_invalid',
    message: expect.stringContaining('participants'),
  });
  await writeFile(file, '{}\n');
});

test('a folder that is not trusted names neither a server nor participants', async () => {
  const file = join(folder, 'dialectic.config.yaml');
  await writeFile(file, `providers: { lab: { baseUrl: "${server.url}" } }\n`);
  const ended = await dialectic({}, 'run', 'brief.md', '--yes');
  expect(errorOf(ended).code).toBe('configuration_untrusted');
  expect(server.served).toEqual([]);
  await writeFile(file, 'participants: [offline/builder]\n');
  expect(errorOf(await dialectic({}, 'run', 'brief.md', '--yes'))).toMatchObject({
    code: 'configuration_untrusted',
    message: expect.stringContaining('decides who reads your briefs'),
  });
  await writeFile(file, '{}\n');
});
