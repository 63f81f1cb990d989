import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { configCommand } from '../../src/cli/config.ts';
import { readConfiguration } from '../../src/cli/configuration.ts';
import { estimateCommand } from '../../src/cli/estimate.ts';
import { modelsCommand } from '../../src/cli/models.ts';
import { projectCommand } from '../../src/cli/project.ts';
import { runCommand } from '../../src/cli/run.ts';
import { emptyDirectory, temporaryFolder } from '../stores.ts';

const CANARY = 'sk-canary-0123456789';
const home = process.cwd();
let folder: string;
let server: Server;
let url: string;
/** What the server of the folder's author got to see. */
const seen: string[] = [];

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  folder = await temporaryFolder();
  for (const name of ['OPENAI_API_KEY', 'SOME_SECRET']) vi.stubEnv(name, CANARY);
  vi.stubEnv('XDG_CONFIG_HOME', join(folder, 'configurations'));
  server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.end('{"data":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  await mkdir(join(folder, 'cloned'));
  process.chdir(join(folder, 'cloned'));
});

afterAll(async () => {
  process.chdir(home);
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const call = (command: Command, ...words: string[]): Promise<unknown> =>
  command.exitOverride().parseAsync(words, { from: 'user' });
const models = (): Promise<unknown> => call(modelsCommand(), '--json');
const untrusted = (said: string) => ({
  code: 'configuration_untrusted',
  message: expect.stringContaining(said) as string,
});
const configure = (providers: object): Promise<void> =>
  writeFile('dialectic.config.yaml', JSON.stringify({ providers }));

test('a configuration in the folder gets no key of others before it is trusted', async () => {
  await configure({ openai: { baseUrl: url }, thief: { baseUrl: url, apiKeyEnv: 'SOME_SECRET' } });
  await writeFile('brief.md', 'A bakery.');
  await expect(models()).rejects.toMatchObject(untrusted('SOME_SECRET'));
  const participant = ['brief.md', '-m', 'openai/gpt-5', '--data', join(folder, 'data')];
  await expect(call(runCommand(), ...participant)).rejects.toMatchObject(
    untrusted('sets providers.openai.baseUrl'),
  );
  await expect(call(estimateCommand(), ...participant)).rejects.toMatchObject(untrusted('openai'));
  expect(seen).toEqual([]);
});

test('trust holds for a path and a content', async () => {
  const trusted = { openai: { baseUrl: url, apiKeyEnv: 'OPENAI_API_KEY' } };
  await configure(trusted);
  await call(configCommand(), 'trust');
  await models();
  expect(seen.join()).toContain(CANARY);
  seen.length = 0;
  await configure({ openai: { baseUrl: url }, lab: { baseUrl: url, apiKeyEnv: 'SOME_SECRET' } });
  await expect(models()).rejects.toMatchObject(untrusted('has changed since you trusted it'));
  await configure(trusted);
  await call(configCommand(), 'untrust');
  await expect(models()).rejects.toMatchObject(untrusted('is not trusted'));
  await call(configCommand(), 'trust', 'dialectic.config.yaml');
  await rename('dialectic.config.yaml', 'dialectic.config.yml');
  await expect(models()).rejects.toMatchObject(untrusted('is not trusted'));
  await rename('dialectic.config.yml', 'dialectic.config.yaml');
  expect(seen).toEqual([]);
});

test('what touches no secret works without trust, over the user’s own configuration', async () => {
  const own = join(folder, 'configurations/dialectic/dialectic.config.yaml');
  await writeFile(own, JSON.stringify({ providers: { openai: { baseUrl: url, concurrency: 1 } } }));
  await configure({ openai: { concurrency: 3 } });
  await expect(models()).rejects.toMatchObject(
    untrusted('sets providers.openai.concurrency to 3, which is more than you allow'),
  );
  await configure({ openai: { concurrency: 1 } });
  await models();
  expect(seen.join()).toContain(CANARY);
  seen.length = 0;
});

test('a trusted folder’s provider gets no key, header or option of the user’s of that name', async () => {
  const own = join(folder, 'configurations/dialectic/dialectic.config.yaml');
  const lab = { baseUrl: 'http://127.0.0.1:9/v1', headers: { 'x-secret': CANARY }, apiKey: CANARY };
  const models = { 'lab/m': { options: { user: CANARY } } };
  await writeFile(own, JSON.stringify({ providers: { lab }, models }));
  await configure({ lab: { baseUrl: url }, openai: { baseUrl: url } });
  await call(configCommand(), 'trust');
  await call(modelsCommand(), '--json');
  expect(seen).toHaveLength(2);
  expect(seen.join()).not.toContain(CANARY);
  const merged = readConfiguration();
  expect(merged.models['lab/m']?.options).toBeUndefined();
  expect(merged.providers['lab']).toEqual({
    kind: 'compatible',
    baseUrl: url,
    isFolders: true,
  });
  await configure({ openai: { headers: { 'x-team': 'a' } } });
  await call(configCommand(), 'trust');
  await writeFile('brief.md', 'A bakery.');
  const run = ['brief.md', '-m', 'openai/gpt-5', '--data', join(folder, 'data')];
  await expect(call(runCommand(), ...run)).rejects.toMatchObject({
    code: 'provider_not_configured',
    message: expect.stringContaining('apiKeyEnv: OPENAI_API_KEY') as string,
  });
  await configure({ openai: { api: 'chat', baseUrl: url } });
  await call(configCommand(), 'trust');
  vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1');
  expect(readConfiguration().providers['openai']).toMatchObject({
    api: 'chat',
    apiKey: CANARY,
    baseUrl: 'http://127.0.0.1:9/v1',
  });
  vi.stubEnv('OPENAI_BASE_URL', undefined);
  await rm(own);
});

test('a configuration in the folder deletes no project before it is trusted', async () => {
  await writeFile('dialectic.config.yaml', 'retention: { days: 1 }');
  const expire = ['expire', '--data', await emptyDirectory()];
  await expect(call(projectCommand(), ...expire)).rejects.toMatchObject(
    untrusted('sets retention.days to 1, which is less than you allow'),
  );
  await call(configCommand(), 'trust');
  await call(projectCommand(), ...expire);
  await writeFile('dialectic.config.yaml', 'providers: {}');
  await expect(call(projectCommand(), ...expire)).rejects.toMatchObject({
    code: 'usage_invalid',
    message: expect.stringContaining('retention: { days: 365 }'),
  });
  await writeFile('dialectic.config.yaml', 'retention: { days: 0 }');
  await expect(call(projectCommand(), ...expire)).rejects.toMatchObject({
    message: expect.stringContaining('retention.days'),
  });
});
