import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { listFields } from '../src/cli/config-fields.ts';
import { describeRight, FOLDER_RIGHTS } from '../src/cli/folder-rights.ts';
import { type Ended, runDialectic } from './run-dialectic.ts';
import { CANARY, findFragments } from './security/canaries.ts';
import { temporaryFolder } from './stores.ts';

let folder: string;
let own: string;
let here: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  own = join(folder, 'home/dialectic/dialectic.config.yaml');
  here = join(folder, 'dialectic.config.yaml');
  await mkdir(join(folder, 'home/dialectic'), { recursive: true });
});
beforeEach(async () => {
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'home'));
  vi.stubEnv('OPENAI_API_KEY', CANARY);
  vi.stubEnv('DIALECTIC_BASE_URL', 'http://127.0.0.1:4000/v1');
  return async () => {
    vi.unstubAllEnvs();
    await rm(own, { force: true });
    await rm(here, { force: true });
  };
});

const config = (...words: string[]): Promise<Ended> =>
  runDialectic(['config', ...words], { cwd: folder });

test('says where the files are, what is in force, and from where', async () => {
  await writeFile(own, `jobs: { maxAttempts: 7 }\nproviders: { lab: { apiKey: '${CANARY}' } }`);
  await writeFile(here, 'jobs: { maxAttempts: 9, firstRetryMs: 100 }');
  const { code, stdout } = await config();
  expect(code).toBe(0);
  expect(stdout).toContain(`your own:    ${own}\n`);
  expect(stdout).toContain('keys.json (not there)');
  expect(stdout).toContain(`this folder: ${here} (not trusted`);
  expect(stdout).toContain(`jobs.maxAttempts: 9 tries, ${here}\n`);
  expect(stdout).toContain('jobs.maxTakeovers: 20 takeovers, default\n');
  expect(stdout).toContain(`providers.openai.apiKey: …${CANARY.slice(-4)}, OPENAI_API_KEY\n`);
  expect(stdout).toContain(`providers.lab.apiKey: …${CANARY.slice(-4)}, ${own}\n`);
  expect(stdout).toContain(
    'providers.compatible.baseUrl: http://127.0.0.1:4000/v1 address, DIALECTIC_BASE_URL\n',
  );
  expect(stdout).toContain('providers.NAME.timeouts.silenceMs (milliseconds): ');
  const json = await config('--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    files: { own: { path: own, exists: true }, folder: { path: here, trusted: false } },
    inForce: expect.arrayContaining([
      { field: 'jobs.maxAttempts', value: 9, unit: 'tries', from: here },
    ]) as unknown,
  });
  expect(findFragments(stdout + json.stdout)).toEqual([]);
});

test('shows what a folder wants that is not trusted, where others refuse it', async () => {
  await writeFile(here, 'participants: [offline/builder]');
  expect((await config()).stdout).toContain(`participants: ["offline/builder"] provider/model, `);
});

test.each([
  ['jbos: { maxAttempts: 2 }', 'jbos is no field of the configuration; did you mean jobs?'],
  ['providers: { openai: { concurency: 2 } }', 'providers.openai.concurency', 'concurrency?'],
  [
    'providers: { openai: { timeouts: { total: 2 } } }',
    'providers.openai.timeouts.total',
    'totalMs',
  ],
  ['models: { a/b: { price: { inputs: 2 } } }', 'models.a/b.price.inputs', 'did you mean input?'],
  ['retention: { day: 3 }', 'retention.day is no field', 'did you mean days?'],
  ['temperature: 1', 'temperature is no field', 'known are providers, models, participants'],
])('refuses %s with its place and the nearest field', async (text, ...said) => {
  await writeFile(here, text);
  for (const verb of ['config', 'models']) {
    const { code, stderr } = await runDialectic([verb], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain(here);
    for (const part of said) expect(stderr).toContain(part);
  }
});

test.runIf(process.platform !== 'win32')('a file that is a pipe is refused at once', async () => {
  execFileSync('mkfifo', [here]);
  for (const words of [['config'], ['models'], ['doctor', '--data', join(folder, 'data')]]) {
    const { stdout, stderr } = await runDialectic(words, { cwd: folder });
    expect(stdout + stderr).toContain('dialectic.config.yaml cannot be read: ');
    expect(stdout + stderr).toContain('is a pipe, a device or a socket');
  }
});

test('no line of a file comes onto the terminal as it is', async () => {
  const warnings: unknown[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  await writeFile(here, `jobs: !x {} # ${CANARY} \u001b]0;x\u0007\nretention: { days: 1 }\n`);
  const { stderr } = await runDialectic(['models'], { cwd: folder });
  expect(stderr).toContain('configuration_untrusted');
  await writeFile(here, JSON.stringify({ providers: { lab: { baseUrl: 'http://x\nTrusted.' } } }));
  const faked = await runDialectic(['models'], { cwd: folder });
  expect(faked.stderr).toContain('to http://x Trusted., which decides');
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
  expect(stderr).not.toContain('\u001b');
});

test('a link to a file that is trusted elsewhere is not trusted', async () => {
  const trusted = join(folder, 'elsewhere');
  await mkdir(trusted);
  await writeFile(join(trusted, 'dialectic.config.yaml'), 'participants: [offline/builder]');
  await runDialectic(['config', 'trust'], { cwd: trusted });
  expect((await runDialectic(['models'], { cwd: trusted })).code).toBe(0);
  await symlink(join(trusted, 'dialectic.config.yaml'), here);
  const { stderr } = await runDialectic(['models'], { cwd: folder });
  expect(stderr).toContain('configuration_untrusted');
});

test('a file of more than a megabyte is refused', async () => {
  await writeFile(here, `# ${'x'.repeat(1_000_000)}`);
  expect((await config()).stderr).toContain('1,000,000 bytes may be');
});

test('docs/configuration.md lists every field with its unit, its meaning and what a folder may do', async () => {
  const path = new URL('../docs/configuration.md', import.meta.url);
  const rows = listFields().map(({ path: field, unit, meaning, default: preset }) => {
    const standing = preset === null ? '' : `; default ${JSON.stringify(preset)}`;
    const right = describeRight(FOLDER_RIGHTS[field]!);
    return `| \`${field}\` | ${unit} | ${meaning}${standing} | ${right} |`;
  });
  expect(await readFile(path, 'utf8')).toContain(rows.join('\n'));
});
