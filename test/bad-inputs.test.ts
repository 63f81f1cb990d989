import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { toDialecticError } from '../src/errors/errors.ts';
import { readModelsConfig } from '../src/models/config.ts';
import { startServer } from '../src/models/loopback.fixture.ts';
import { preflightLists } from '../src/models/preflight.ts';
import { elapsedMs } from '../src/platform/clock.ts';
import { startFullServer } from './full-server.ts';
import { type Ended, OFFLINE, type Place, runDialectic, spawnDialectic } from './run-dialectic.ts';
import { emptyDirectory, temporaryFolder } from './stores.ts';

/** What a person is promised, from the start of the command. */
const PROMISED_MS = 5_000;
/** What the start of the program takes of it, which `runDialectic` leaves out. */
const START_MS = 1_000;

/** The promise on this machine: each command has a share of a processor where others want one, too. */
const limitMs = (): number =>
  (PROMISED_MS - START_MS) * (1 + (2 * loadavg()[0]!) / availableParallelism());

/** With BAD_INPUTS_TABLE=1 every command is a process of its own, and its wall time is printed. */
const isTable = process.env['BAD_INPUTS_TABLE'] === '1';
const table: string[] = [];

let folder: string;
let server: Awaited<ReturnType<typeof startServer>>;
let dead: string;
let silent: Awaited<ReturnType<typeof startServer>>;
let mute: string;
let full: Awaited<ReturnType<typeof startFullServer>>;
let stuck: Promise<Ended>;
let stuckMs: number;
/** When the silent server was asked. */
let askedMs = 0;
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
  silent = await startServer(() => {
    askedMs = elapsedMs();
  });
  // A plain socket: it takes the connection, and what TLS begins with, and says nothing.
  const socket = createServer(() => {}).listen(0, '127.0.0.1');
  socket.unref();
  await once(socket, 'listening');
  mute = `http://127.0.0.1:${(socket.address() as AddressInfo).port}`;
  const gone = await startServer(() => {});
  await gone.stop();
  dead = gone.url;
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'home'));
  stuck = startStuck();
  full = await startFullServer();
  const run = await dialectic({}, 'run', 'brief.md', ...MEMO, ...OFFLINE, '--until', 'clarify');
  expect(run.code, run.stderr).toBe(0);
}, 120_000);
afterAll(async () => {
  vi.unstubAllEnvs();
  if (isTable) process.stdout.write(`${table.join('\n')}\n`);
  await Promise.all([server.stop(), silent.stop(), full.stop()]);
});

const MEMO = ['-p', 'decision-memo'];

/** A command whose server has a name that the resolver takes a minute to look up. */
async function startStuck(): Promise<Ended> {
  const program =
    'import dns from "node:dns"; dns.lookup = (_host, _options, done) =>' +
    ' void setTimeout(() => done(new Error("late")), 60_000);';
  const code = `data:text/javascript,${encodeURIComponent(program)}`;
  const env = { ...at('http://slow.example'), NODE_OPTIONS: `--import ${code}` };
  const before = elapsedMs();
  const { ended } = spawnDialectic(run('brief.md', '-m', 'compatible/gpt-5'), { cwd: folder, env });
  const left = await ended;
  stuckMs = elapsedMs() - before;
  return left;
}
const dialectic = (env: Readonly<Record<string, string>>, ...words: string[]): Promise<Ended> =>
  carryOut([...words, '--data', join(folder, 'data')], { cwd: folder, env });

const carryOut = (words: readonly string[], place: Place): Promise<Ended> =>
  isTable ? spawnDialectic(words, place).ended : runDialectic(words, place);

/** Runs a command that must end in the time that a person is promised. */
async function inTime(thing: string, work: () => Promise<Ended>): Promise<Ended> {
  const before = elapsedMs();
  const ended = await work();
  const tookMs = elapsedMs() - before;
  table.push(`${(tookMs / 1000).toFixed(2).padStart(6)} s  exit ${ended.code}  ${thing}`);
  if (isTable) expect(tookMs).toBeLessThan(limitMs() + START_MS);
  else expect(tookMs).toBeLessThan(limitMs());
  return ended;
}

/**
 * Root reads every file whatever its permissions are. The command then runs as the account that owns
 * nothing (65534, nobody): `seteuid` makes the kernel check the rights of that account for all threads
 * of this process, and a process started meanwhile has it, too.
 */
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

/** Servers that a preflight meets, and what it says of each. */
const AWAY = [
  ['that refuses the connection', () => dead, /nothing listens there/],
  ['that takes the request and never answers', () => silent.url, /did not answer at .* within/],
  [
    'that speaks no TLS',
    () => server.url.replace('http:', 'https:'),
    /does not speak TLS there; try http:/,
  ],
  [
    'that never ends the TLS handshake',
    () => mute.replace('http:', 'https:'),
    /did not answer at .* within/,
  ],
  ['whose host takes no connection', () => full.url, /did not answer at .* within/],
  [
    'whose name nobody knows',
    () => 'http://no-such-host.invalid',
    /host name|did not answer at .* within/,
  ],
] as const;

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
    [
      () => `compatible has no model "gpt-god" at ${server.url}/v1`,
      'It offers compatible/gpt-good',
      'dialectic models',
    ],
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
    [
      'no document nothing. The stage clarify has:',
      'clarify/questions@1',
      /`dialectic show [0-9a-f]{8} --all` lists the documents/,
    ],
  ],
  [
    'an unknown question',
    () => NONE,
    ['answer', '99', 'Forty a day.'],
    [/No document asks "99"/, /Open are:|None is open/, /`dialectic questions [0-9a-f]{8}` lists/],
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
  [
    'an unknown session or document to show',
    () => NONE,
    ['show', 'abcdef'],
    [
      /^dialectic: There is no session abcdef, and no document abcdef in the newest session, [0-9a-f]{8}\.\n {2}`dialectic list` lists the sessions; -s ID names the session of a document\./,
    ],
  ],
  ['an id of nothing to open', () => NONE, ['open', 'deadbeef'], ['There is no session deadbeef']],
  ['no document to show', () => NONE, ['show', 'nonsense'], ['no document nonsense. It has:']],
  ['an unknown session', () => NONE, ['watch', 'abcdef'], ['no session abcdef', 'dialectic list']],
  [
    'a budget below what is spent',
    () => NONE,
    ['resume', '--budget-tokens', '5'],
    [
      /has spent [\d,]+ tokens already, [^]*it caps the whole run, not the rest\. \(budget_too_small/,
    ],
  ],
  ['an empty brief', () => NONE, run('', ...OFFLINE), ['name a text file, or write the brief']],
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

test.each(CASES)(
  '%s is named with its remedy, before any call',
  async (thing, env, words, said) => {
    calls.length = 0;
    const { code, stdout, stderr } = await inTime(thing, () => dialectic(env(), ...words));
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
  },
);

/** What is said of a server: by the command, or by the preflight alone, which needs no process. */
async function askAway(url: string): Promise<string> {
  const words = run('brief.md', '-m', 'compatible/gpt-good');
  if (isTable) return (await dialectic(at(url), ...words)).stderr;
  const config = readModelsConfig(at(url), {});
  const { message, action } = await preflightLists(['compatible/gpt-good'], config).then(
    () => expect.unreachable(),
    (thrown: unknown) => toDialecticError(thrown),
  );
  return `${message} ${action}`;
}

async function checkAway([thing, url, reason]: (typeof AWAY)[number]): Promise<void> {
  const before = elapsedMs();
  const said = await askAway(url());
  const tookMs = elapsedMs() - before;
  table.push(`${(tookMs / 1000).toFixed(2).padStart(6)} s  exit 6  a server ${thing}`);
  expect(tookMs, thing).toBeLessThan(limitMs() + (isTable ? START_MS : 0));
  expect(said).toContain(`${url()}/v1`);
  expect(said).toMatch(reason);
  expect(said).toContain('Check the network, the base URL and that a local server runs.');
}

test('a server that is away is named with its remedy, in time whatever it does', async () => {
  if (!isTable) return void (await Promise.all(AWAY.map(checkAway)));
  // Processes that start at once would measure each other.
  for (const server of AWAY) await checkAway(server);
});

test('a silent server is given up after the time that the message names', async () => {
  const { stderr } = await dialectic(at(silent.url), ...run('brief.md', '-m', 'compatible/gpt-5'));
  const waitedMs = elapsedMs() - askedMs;
  const named = Number(/within ([\d.]+) s/.exec(stderr)?.[1]) * 1000;
  expect(named).toBeLessThanOrEqual(PROMISED_MS - 2 * START_MS);
  expect(waitedMs).toBeGreaterThan(named * 0.8);
  expect(waitedMs).toBeLessThan(limitMs());
});

test('a host name that is still looked up does not keep the process', async () => {
  const { code, stderr } = await stuck;
  expect(code, stderr).toBe(6);
  expect(stderr).toContain('http://slow.example/v1');
  // The lookup takes a minute.
  expect(stuckMs).toBeLessThan(40_000);
});

test.each([
  ['brief', () => [join(folder, 'secret.md')]],
  ['resource', () => [join(folder, 'brief.md'), '-r', `reference=${join(folder, 'secret.md')}`]],
])('a %s without permission is named with its remedy', async (what, words) => {
  const { code, stderr } = await inTime(`a ${what} without permission`, () =>
    asNobody(() => dialectic({}, 'run', ...words(), ...MEMO, ...OFFLINE)),
  );
  expect(code).toBe(2);
  expect(stderr).toContain('secret.md may not be read by you; give yourself the right with chmod');
});

test('an unknown key of the configuration is named with its remedy', async () => {
  const words = ['run', 'brief.md', ...MEMO, ...OFFLINE, '--data', join(folder, 'data')];
  const { code, stderr } = await inTime('an unknown key of the configuration', () =>
    carryOut(words, { cwd: join(folder, 'misspelt') }),
  );
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
