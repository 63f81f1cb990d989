import { hash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listFields } from '../../src/cli/config-fields.ts';
import { findWishes } from '../../src/cli/configuration.ts';
import { FOLDER_RIGHTS } from '../../src/cli/folder-rights.ts';
import { codeOf } from '../../src/errors/errors.ts';
import { type Ended, runDialectic } from '../run-dialectic.ts';
import { emptyDirectory, temporaryFolder } from '../stores.ts';

/** A configuration as a tree of sections. */
type Tree = { [key: string]: unknown };
type Request = { readonly method: string; readonly text: string };

const SECRET = 'sk-Qx7Lw0vT3hNdK7fYbC';
const BRIEF = 'A bakery for the quarter behind the canary-yellow station.';
const CONFIGURATIONS = 300;

let folder: string;
let own: { readonly url: string; readonly seen: Request[] };
let evil: { readonly url: string; readonly seen: Request[] };
let env: Readonly<Record<string, string>>;
const servers: Server[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  own = await listen();
  evil = await listen();
  const closed = 'http://127.0.0.1:9/v1';
  env = {
    XDG_CONFIG_HOME: join(folder, 'home'),
    DIALECTIC_DATA: await emptyDirectory(),
    OPENAI_API_KEY: SECRET,
    OPENAI_BASE_URL: own.url,
    SOME_SECRET: SECRET,
    BRAVE_API_KEY: SECRET,
    LLAMACPP_BASE_URL: closed,
    VLLM_BASE_URL: closed,
  };
  await mkdir(join(folder, 'home/dialectic'), { recursive: true });
  await writeFile(join(folder, 'brief.md'), BRIEF);
});

/** Configurations of a user: of each a run would cost more than its owner wants to be asked about. */
function listOwn(): Tree[] {
  const lab = { baseUrl: own.url, headers: { authorization: `Bearer ${SECRET}` } };
  const dear = { 'lab/m': { price: { input: 500, output: 900 }, options: { user: SECRET } } };
  const ollama = { baseUrl: own.url };
  return [
    {
      participants: ['lab/m', 'ollama/llama3'],
      providers: { lab, ollama },
      models: dear,
      jobs: { maxAttempts: 3 },
      retention: { days: 90 },
      spending: { confirmAboveUsd: 2 },
    },
    {
      participants: ['openai/gpt-5', 'lab/m'],
      providers: { lab: { ...lab, concurrency: 2 } },
      models: { ...dear, 'openai/gpt-5': { price: { input: 100, output: 300 } } },
      sources: { search: 'brave', searchKeyEnv: 'BRAVE_API_KEY' },
    },
    {
      participants: ['lab/m', 'lab/m'],
      providers: {
        lab: { ...lab, kind: 'compatible', local: false, timeouts: { totalMs: 9_000 } },
      },
      models: {
        'lab/m': { price: { input: 60, output: 90, cachedInput: 9 }, windowTokens: 90_000 },
      },
      spending: { confirmAboveUsd: 0 },
      embeddings: 'lab/e',
    },
  ];
}

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server that lists the models of all participants and keeps what it was sent. */
async function listen(): Promise<{ readonly url: string; readonly seen: Request[] }> {
  const seen: Request[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      seen.push({ method: request.method!, text: JSON.stringify(request.headers) + body });
      response.end('{"data":[{"id":"m"},{"id":"llama3"},{"id":"gpt-5"},{"id":"e"}]}');
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

const dialectic = (...words: string[]): Promise<Ended> => runDialectic(words, { cwd: folder, env });

/** Values that a field may take: the parsers of the sections say which of them it does. */
const NUMBERS = [0, 0.6, 1, 2, 3, 50, 1_000, 4_000_000];
const WORDS = ['SOME_SECRET', 'openai', 'google', 'chat', 'brave', 'folder', 'thief/x'];
const LISTS = [
  ['thief/x', 'lab/m'],
  ['127.0.0.1', '169.254.169.254'],
];
const MAPS = [{ host: 'evil.example' }, { instructions: 'Send it.' }];
const listValues = (): readonly unknown[] =>
  [NUMBERS, [true, false, evil.url], WORDS, LISTS, MAPS].flat();

/** Fields that another field of the same section asks for. */
const COMPANIONS: Readonly<Record<string, Tree>> = {
  'models.ID.price': { input: 0, output: 0 },
};

/** The trees that set one field, with every value that it takes, under a name each. */
function setField(pattern: string): Tree[] {
  const names = pattern.includes('NAME')
    ? ['lab', 'openai', 'ollama', 'thief']
    : pattern.includes('ID')
      ? ['lab/m', 'openai/gpt-5', 'thief/x']
      : [''];
  return names.flatMap((name) =>
    listValues()
      .map((value) => {
        const tree: Tree = {};
        const keys = pattern.split('.').map((key) => (/^(?:NAME|ID)$/.test(key) ? name : key));
        const parent = keys.slice(0, -1).reduce<Tree>((at, key) => (at[key] ??= {}) as Tree, tree);
        const companions = COMPANIONS[pattern.split('.').slice(0, -1).join('.')];
        Object.assign(parent, companions, { [keys.at(-1)!]: value });
        return tree;
      })
      .filter(isValid),
  );
}

function isValid(tree: Tree): boolean {
  try {
    findWishes({ path: 'generated', text: JSON.stringify(tree) });
    return true;
  } catch (error) {
    if (codeOf(error) === 'usage_invalid') return false;
    throw error;
  }
}

const merge = (one: unknown, other: unknown): unknown =>
  isTree(one) && isTree(other)
    ? Object.fromEntries(
        [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => [
          key,
          key in one && key in other ? merge(one[key], other[key]) : (one[key] ?? other[key]),
        ]),
      )
    : one;
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Numbers that look like chance and are the same in every run. */
function* chance(): Generator<number, never> {
  for (let state = 20_261_119; ; state = (state * 48_271) % 2_147_483_647) yield state;
}

const hashOf = (tree: Tree): number =>
  Number.parseInt(hash('md5', JSON.stringify(tree), 'hex').slice(0, 8), 16);

/** Each field alone, then each with neighbours, until there are enough. */
function generate(): readonly Tree[] {
  const all = listFields().map(({ path }) => setField(path));
  const alone = all.flatMap((trees) => [...new Set([trees[0]!, trees.at(-1)!])]);
  const numbers = chance();
  const pick = <T>(list: readonly T[]): T => list[numbers.next().value % list.length]!;
  const harmless = listFields().flatMap(({ path }, at) =>
    FOLDER_RIGHTS[path]?.may === 'nothing' ? [] : [all[at]!],
  );
  const more = Array.from({ length: CONFIGURATIONS - alone.length }, (_, at) => {
    // Every third one sets nothing but fields that a folder may set.
    const fields = at % 3 === 0 ? harmless : all;
    const chosen = Array.from({ length: 2 + (at % 5) }, () => pick(pick(fields)));
    return chosen.reduce((tree, one) => merge(tree, one) as Tree);
  });
  // In an order in which each user meets some of every kind.
  return [...alone, ...more].toSorted((a, b) => hashOf(a) - hashOf(b));
}

test('every field of the configuration has a decision about folders that are not trusted', () => {
  expect(Object.keys(FOLDER_RIGHTS).toSorted()).toEqual(
    listFields()
      .map(({ path }) => path)
      .toSorted(),
  );
  const without = listFields().filter(({ path }) => setField(path).length === 0);
  expect(without).toEqual([]);
});

const costOf = (ended: Ended): { low: number; high: number } =>
  (JSON.parse(ended.stdout) as { costUsd: { low: number; high: number } }).costUsd;

test(`${CONFIGURATIONS} configurations of folders send, cheapen and start nothing`, async () => {
  const estimate = ['estimate', 'brief.md', '-p', 'decision-memo', '--json'];
  const run = ['run', 'brief.md', '-p', 'decision-memo', '--json'];
  const outcomes = { refused: 0, used: 0 };
  const users = listOwn();
  const each = Math.ceil(CONFIGURATIONS / users.length);
  let before = { low: 0, high: 0 };
  for (const [at, tree] of generate().entries()) {
    const user = users[Math.floor(at / each)]!;
    if (at % each === 0) {
      await writeFile(join(folder, 'dialectic.config.json'), '{}');
      await writeFile(join(folder, 'home/dialectic/dialectic.config.yaml'), JSON.stringify(user));
      before = costOf(await dialectic(...estimate));
      expect((await dialectic(...run)).stderr).toContain('spending_unconfirmed');
    }
    const text = JSON.stringify(tree);
    await writeFile(join(folder, 'dialectic.config.json'), text);
    const models = await dialectic('models', '--json');
    const isRefused = models.code !== 0;
    outcomes[isRefused ? 'refused' : 'used']++;
    const ended = [models];
    if (isRefused) {
      expect(models.stderr, text).toContain('configuration_untrusted');
    } else {
      if ('models' in tree) {
        const { low, high } = costOf(await dialectic(...estimate));
        expect(low, text).toBeGreaterThanOrEqual(before.low);
        expect(high, text).toBeGreaterThanOrEqual(before.high);
      }
      const started = await dialectic(...run);
      expect(started.stderr, text).toContain('spending_unconfirmed');
      ended.push(started);
    }
    for (const { stdout, stderr } of ended) {
      expect(stdout + stderr, text).not.toContain(SECRET);
    }
    expect(evil.seen, text).toEqual([]);
  }
  expect(own.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(own.seen.every(({ text }) => !text.includes('canary-yellow'))).toBe(true);
  expect(outcomes.used).toBeGreaterThan(30);
  expect(outcomes.refused).toBeGreaterThan(150);
}, 240_000);
