import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startServer } from '../src/models/loopback.fixture.ts';
import { elapsedMs } from '../src/platform/clock.ts';
import { type Ended, OFFLINE, runDialectic } from './run-dialectic.ts';
import { emptyDirectory, temporaryFolder } from './stores.ts';

/** Three times what a person is promised: the machine of the tests may be busy. */
const LIMIT_MS = 15_000;

let folder: string;
let server: Awaited<ReturnType<typeof startServer>>;
let dead: string;
/** What the server was asked to write; its list of models is no call. */
const calls: string[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  await emptyDirectory(join(folder, 'data'));
  const write = (name: string, content: string | Buffer) => writeFile(join(folder, name), content);
  await write('brief.md', 'Should the library open on Sundays?');
  await write('secret.md', 'Nobody may read this.');
  await chmod(join(folder, 'secret.md'), 0o000);
  await write('brief.docx', Buffer.from('PK\x03\x04\x14\x00\x06\x00\x08\x00', 'latin1'));
  await write('brief.pdf', Buffer.from('%PDF-1.7\n\xe2\xe3\xcf\xd3', 'latin1'));
  await mkdir(join(folder, 'notes'));
  for (const part of ['misspelt', 'home/dialectic']) {
    await mkdir(join(folder, part), { recursive: true });
  }
  await write('misspelt/dialectic.config.yaml', 'jobs: { maxAttemps: 3 }');
  await write('misspelt/brief.md', 'Open on Sundays?');
  server = await startServer((request, response) => {
    if (request.headers.authorization !== 'Bearer right-key') response.writeHead(401).end('{}');
    else if (request.method === 'GET') response.end('{"data":[{"id":"gpt-good"}]}');
    else {
      calls.push(request.url ?? '');
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"The model does not exist"}}');
    }
  });
  const gone = await startServer(() => {});
  await gone.stop();
  dead = gone.url;
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'home'));
  const run = await dialectic({}, 'run', 'brief.md', ...MEMO, ...OFFLINE, '--until', 'clarify');
  expect(run.code, run.stderr).toBe(0);
}, 120_000);
afterAll(() => {
  vi.unstubAllEnvs();
  return server.stop();
});

const MEMO = ['-p', 'decision-memo'];
const dialectic = (env: Readonly<Record<string, string>>, ...words: string[]): Promise<Ended> =>
  runDialectic([...words, '--data', join(folder, 'data')], { cwd: folder, env });

/** Root reads every file: the command then runs as the account that owns nothing. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  await chmod(folder, 0o755);
  // The command goes back to where it was started, which may be closed to that account.
  const home = process.cwd();
  process.chdir(folder);
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.chdir(home);
  }
}

const at = (url: string, key = 'right-key') => ({
  DIALECTIC_BASE_URL: url,
  DIALECTIC_API_KEY: key,
});
const run = (...words: string[]) => ['run', ...words, ...MEMO];
const NONE = {};

const CASES: readonly [
  thing: string,
  environment: () => Readonly<Record<string, string>>,
  words: readonly string[],
  said: readonly (string | RegExp | (() => string))[],
][] = [
  [
    'a dead server',
    () => at(dead),
    run('brief.md', '-m', 'compatible/gpt-good'),
    [() => `${dead}/v1: nothing listens there`, '--no-preflight', 'that a local server runs'],
  ],
  [
    'a wrong key',
    () => at(server.url, 'wrong-key'),
    run('brief.md', '-m', 'compatible/gpt-good'),
    [() => `refused the key at ${server.url}/v1 with status 401`, 'dialectic keys set'],
  ],
  [
    'a missing key',
    () => NONE,
    run('brief.md', '-m', 'anthropic/claude-sonnet-4-5'),
    ['set ANTHROPIC_API_KEY, or store one with: dialectic keys set anthropic'],
  ],
  [
    'a wrong model',
    () => at(server.url),
    run('brief.md', '-m', 'compatible/gpt-god'),
    ['compatible has no model "gpt-god"', 'It offers compatible/gpt-good', 'dialectic models'],
  ],
  [
    'a wrong provider',
    () => NONE,
    run('brief.md', '-m', 'opnai/gpt-5'),
    ['No provider "opnai"; did you mean openai?'],
  ],
  [
    'an unknown resource kind',
    () => NONE,
    ['run', 'brief.md', '-r', 'constraint=brief.md', ...OFFLINE],
    [/no resource kind constraint; software-plan reads .*constraint_b/],
  ],
  [
    'an unknown domain',
    () => NONE,
    run('brief.md', '--domain', 'astrology', ...OFFLINE),
    [/decision-memo has no domain astrology; it has/],
  ],
  [
    'an unknown stage to stop after',
    () => at(server.url),
    run('brief.md', '--until', 'nowhere', '-m', 'compatible/gpt-good'),
    ['There is no stage nowhere.', /^ +clarify {2}Clarify$/m],
  ],
  [
    'an unknown stage for feedback',
    () => NONE,
    ['feedback', 'nowhere', 'Ask the neighbours.'],
    ['There is no stage nowhere.', /^ +clarify {2}Clarify$/m],
  ],
  [
    'an unknown document',
    () => NONE,
    ['feedback', 'clarify', 'Ask the neighbours.', '-d', 'nothing'],
    ['no document nothing. The stage clarify has:', 'clarify/questions@1'],
  ],
  [
    'an unknown question',
    () => NONE,
    ['answer', '99', 'Forty a day.'],
    [/No document asks "99"/, /Open are:|None is open/],
  ],
  [
    'an unknown participant to write',
    () => NONE,
    run('brief.md', '--writer', 'offline/nobody', ...OFFLINE),
    ['no part in this run. The participants are:', '2  offline/skeptic'],
  ],
  [
    'an unknown participant to choose',
    () => NONE,
    ['choose', '9'],
    ['9 takes no part in this run. The participants are:', '2  offline/skeptic'],
  ],
  ['an unknown session', () => NONE, ['show', 'abcdef'], ['abcdef', 'dialectic list']],
  [
    'a folder as brief',
    () => NONE,
    run('notes', ...OFFLINE),
    ['notes is a folder; name a text file in it'],
  ],
  [
    'no file as brief',
    () => NONE,
    run('absent.md', ...OFFLINE),
    ['absent.md does not exist; correct the path'],
  ],
  [
    'a Word document',
    () => NONE,
    run('brief.docx', ...OFFLINE),
    ['brief.docx is not text', 'pandoc brief.docx -t markdown -o brief.md'],
  ],
  ['a PDF', () => NONE, run('brief.pdf', ...OFFLINE), ['pdftotext -layout brief.pdf']],
  [
    'a folder as resource',
    () => NONE,
    run('brief.md', '-r', 'reference=notes', ...OFFLINE),
    ['Cannot read the resource: notes is a folder'],
  ],
];

test.each(CASES)('%s is named with its remedy, before any call', async (_, env, words, said) => {
  calls.length = 0;
  const before = elapsedMs();
  const { code, stdout, stderr } = await dialectic(env(), ...words);
  expect(elapsedMs() - before).toBeLessThan(LIMIT_MS);
  expect(code, stderr).toBeGreaterThan(1);
  expect(stdout).toBe('');
  for (const part of said) {
    const wanted = typeof part === 'function' ? part() : part;
    if (typeof wanted === 'string') expect(stderr).toContain(wanted);
    else expect(stderr).toMatch(wanted);
  }
  // A refused question whether the model is there is no work, and costs nothing.
  expect(calls.length).toBeLessThanOrEqual(1);
  expect(stderr).not.toMatch(/Session \S+:/);
});

test('a file without permission is named with its remedy', async () => {
  const { code, stderr } = await asNobody(() =>
    dialectic({}, 'run', join(folder, 'secret.md'), ...MEMO, ...OFFLINE),
  );
  expect(code).toBe(2);
  expect(stderr).toContain('secret.md may not be read by you; give yourself the right with chmod');
});

test('an unknown key of the configuration is named with its remedy', async () => {
  const words = ['run', 'brief.md', ...MEMO, ...OFFLINE, '--data', join(folder, 'data')];
  const { code, stderr } = await runDialectic(words, { cwd: join(folder, 'misspelt') });
  expect(code).toBe(2);
  expect(stderr).toContain('jobs.maxAttemps is no field of the configuration');
  expect(stderr).toContain('did you mean maxAttempts?');
});

test('a wish for questions first is refused where no stage asks any', async () => {
  const { code, stderr } = await dialectic({}, ...run('brief.md', ...OFFLINE, '--ask'));
  expect(code).toBe(2);
  expect(stderr).toContain('decision-memo has no stage that asks questions first');
  expect(stderr).toContain('--approve clarify');
});
