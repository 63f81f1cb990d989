import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { sleep } from '../../src/platform/clock.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import {
  type Ended,
  ownConfiguration,
  type Place,
  runDialectic,
  spawnDialectic,
} from '../run-dialectic.ts';
import { emptyDatabase, emptyDirectory, temporaryFolder } from '../stores.ts';
import {
  type Answer,
  type Asked,
  HELD_PIECES,
  type Pace,
  type Served,
  startScriptedServer,
} from './scripted-server.ts';
import { GOOD_CHECKLIST, GOOD_FRAME, workPlan } from './work-plan.ts';

let folder: string;
let recipe: string;
let brief: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  recipe = join(folder, 'recipe');
  brief = join(folder, 'brief.md');
  await writeTextFolder(recipe, processToFiles(workPlan()));
  await writeFile(brief, 'A web shop for a bakery.');
});

type Printed = { status: string; documents: { key: string; dataPath: string }[] };

const placeOf = (url: string): Place => ({
  cwd: folder,
  env: { DIALECTIC_BASE_URL: url },
});
const dialectic = (url: string, ...parameters: string[]): Promise<Ended> =>
  runDialectic([...parameters, '--json'], placeOf(url));
const start = (model = 'compatible/scripted', ...more: string[]): string[] =>
  ['run', brief, '-p', recipe, '-m', model].concat(more);
const run = (data: string, model?: string, ...more: string[]): string[] =>
  start(model, ...more, '--data', data);
/** The same on a database of the shared server, where a command opens its store faster. */
const onServer = async (url: string, ...parameters: string[]): Promise<Ended> => {
  const env = { ...placeOf(url).env, DATABASE_URL: await emptyDatabase() };
  return runDialectic([...parameters, '--json'], { cwd: folder, env });
};
const errorOf = ({ stderr }: Ended): { code: string; message: string } =>
  JSON.parse(stderr.trim().split('\n').at(-1)!).error;

const answerWell = ({ deliverable, soFar }: Asked): Answer => {
  const whole = JSON.stringify(deliverable === 'work/frame' ? GOOD_FRAME : GOOD_CHECKLIST);
  return { text: whole.startsWith(soFar) ? whole.slice(soFar.length) : whole };
};

async function withServer<T>(
  script: (asked: Asked) => Answer,
  work: (server: Awaited<ReturnType<typeof startScriptedServer>>) => Promise<T>,
  pace: Pace = { pieceChars: 200, gapMs: 0 },
): Promise<T> {
  const server = await startScriptedServer(script, pace);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Goes on with the newest session against a server that answers well. */
const resume = (data: string) =>
  withServer(answerWell, async ({ url, served }) => {
    const out = await temporaryFolder();
    const ended = await dialectic(url, 'resume', '--data', data, '-o', out);
    expect(ended.code, ended.stderr).toBe(0);
    const { status, documents } = JSON.parse(ended.stdout) as Printed;
    expect(status).toBe('completed');
    const { dataPath } = documents.find(({ key }) => key === 'checklist')!;
    expect(JSON.parse(await readFile(dataPath, 'utf8'))).toMatchObject(GOOD_CHECKLIST);
    return { served, asked: served.map(({ deliverable }) => deliverable) };
  });

describe('a run that cannot begin', () => {
  const nowhere = 'http://127.0.0.1:9';
  test.each([
    ['no brief', 'usage_invalid', () => ['run', join(folder, 'absent.md')]],
    ['an unknown provider', 'provider_not_configured', () => run('unused', 'nobody/model')],
    ['an id without a provider', 'model_unknown', () => run('unused', 'gpt')],
    ['an unknown persona', 'model_unknown', () => run('unused', 'offline/nobody')],
    ['a folder within a file', 'folder_unusable', () => run('unused', undefined, '-o', brief)],
  ])('for %s says so and leaves nothing behind', async (_, code, parameters) => {
    const ended = await dialectic(nowhere, ...parameters());
    expect(errorOf(ended).code).toBe(code);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({
      code: code === 'folder_unusable' ? 5 : 2,
      stdout: '',
    });
    expect(existsSync(join(folder, 'unused'))).toBe(false);
  });

  test.each([
    ['zeros', Buffer.from([65, 0, 66])],
    ['letters of another encoding', Buffer.from([0x41, 0xe9, 0xff, 0x42])],
  ])('for a brief with %s says that it is no text', async (_, bytes) => {
    const binary = join(folder, 'binary');
    await writeFile(binary, bytes);
    const ended = await dialectic(nowhere, 'run', binary);
    expect(errorOf(ended)).toMatchObject({ code: 'usage_invalid' });
    expect(errorOf(ended).message).toContain('not text');
  });
});

test('a brief of 60,000 characters is passed on whole', async () => {
  const long = join(folder, 'long.md');
  const text = Array.from({ length: 1_000 }, (_, n) => `Wish ${n}: ${'x'.repeat(50)}`).join('\n');
  expect(text.length).toBeGreaterThan(60_000);
  await writeFile(long, text);
  await withServer(answerWell, async (server) => {
    const ended = await onServer(server.url, ...start().with(1, long));
    expect(ended.code, ended.stderr).toBe(0);
    for (const { messages } of server.served) {
      expect(messages.some(({ content }) => content.includes(text))).toBe(true);
    }
  });
});

test('a wrong key stops the run after one request, and resume overcomes it', async () => {
  const data = await emptyDirectory();
  await withServer(
    () => ({ status: 401 }),
    async (server) => {
      const ended = await dialectic(server.url, ...run(data));
      expect(ended.code).toBe(7);
      expect(errorOf(ended)).toMatchObject({ code: 'run_incomplete' });
      expect(errorOf(ended).message).toContain('status 401 (provider_auth)');
      expect(errorOf(ended).message).toContain('dialectic resume');
      expect(server.served.length).toBe(1);
    },
  );
  expect((await resume(data)).asked).toEqual(['work/frame', 'work/checklist']);
});

test('a provider that is down ends a run before it begins, with its address', async () => {
  const url = await withServer(answerWell, async (server) => server.url);
  const ended = await dialectic(url, ...run('unused'));
  expect(ended.code).toBe(6);
  expect(errorOf(ended).code).toBe('provider_unreachable');
  expect(errorOf(ended).message).toContain(`compatible cannot be used at ${url}/v1`);
  expect(existsSync(join(folder, 'unused'))).toBe(false);
});

test('a provider that goes down ends the run with a name, and resume overcomes it', async () => {
  const data = await emptyDirectory();
  const url = await withServer(answerWell, async (server) => server.url);
  const ended = await dialectic(url, ...run(data), '--no-preflight');
  expect(ended.code).toBe(7);
  const result = JSON.parse(ended.stdout);
  expect(result).toMatchObject({ status: 'failed' });
  expect(result.failures).toEqual([
    expect.stringMatching(/^compatible\/scripted, .*_unreachable\)$/),
  ]);
  const refused = await dialectic(url, 'resume', '--data', data);
  expect(errorOf(refused).code).toBe('provider_unreachable');
  expect((await resume(data)).asked).toEqual(['work/frame', 'work/checklist']);
});

test('Ctrl-C starts nothing new, twice cuts off, and resume repeats no finished call', async () => {
  const data = await emptyDirectory();
  const isHeld = ({ deliverable }: Served): boolean => deliverable === 'work/checklist';
  const pace = { pieceChars: 10, gapMs: 0, isHeld };
  await withServer(
    answerWell,
    async ({ url, served }) => {
      const { child, ended } = spawnDialectic([...run(data), '--json'], placeOf(url));
      const written = (): number => served.at(-1)?.sent.length ?? 0;
      await expect
        .poll(() => served.at(-1)?.deliverable === 'work/checklist' && written(), { interval: 20 })
        .toBe(HELD_PIECES);
      let told = '';
      child.stderr.on('data', (text: string) => (told += text));
      // The end of the call before is told a moment after this one began, and would count as awaited.
      await sleep(500);
      child.kill('SIGINT');
      await expect
        .poll(() => told, { timeout: 20_000 })
        .toContain('Nothing new starts. 1 call under way is let finish; Ctrl-C cuts it off');
      expect(served.at(-1)!.over).toBe(false);
      child.kill('SIGINT');
      const { code, stderr } = await ended;
      expect(code).toBe(7);
      const error = errorOf({ code, stderr, stdout: '' });
      expect(error.code).toBe('run_stopped');
      expect(error.message).toMatch(
        /^Stopped here\. 1 call was cut off, and the text kept, at an unknown price\. Saved so far: /,
      );
      const listed = await dialectic(url, 'list', '--data', data);
      expect(JSON.parse(listed.stdout)).toMatchObject([{ standing: 'stopped', workers: 0 }]);
      expect(served.map(({ deliverable }) => deliverable)).toEqual([
        'work/frame',
        'work/checklist',
      ]);
    },
    pace,
  );
  const { asked, served } = await resume(data);
  expect(asked).toEqual(['work/checklist']);
  expect(served[0]!.soFar.length).toBeGreaterThan(30);
});

test('the configuration file says how often a job is tried', async () => {
  const configure = async (text: string): Promise<void> => {
    vi.stubEnv('XDG_CONFIG_HOME', (await ownConfiguration(text)).XDG_CONFIG_HOME);
    onTestFinished(() => void vi.unstubAllEnvs());
  };
  await configure('jobs: { maxAttempts: 2, firstRetryMs: 10, longestRetryMs: 20 }');
  await withServer(
    () => ({ status: 503 }),
    async (server) => {
      expect((await onServer(server.url, ...start())).code).toBe(7);
      expect(server.served.length).toBe(2);
    },
  );
  await configure('jobs: { maxAttempts: many }');
  const refused = await onServer('http://127.0.0.1:9', ...start());
  expect(errorOf(refused)).toMatchObject({ code: 'usage_invalid' });
  expect(errorOf(refused).message).toContain('maxAttempts');
});
