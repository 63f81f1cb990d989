import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dialecticOnServer, OFFLINE, ownConfiguration } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

test('estimate tells calls, tokens and money, and run says it before it starts', async () => {
  const folder = await temporaryFolder();
  // Nothing listens there: what is refused is refused before it would be asked.
  const prices = await ownConfiguration(
    'models: { compatible/a: { price: { input: 2, output: 10 } } }',
  );
  const env = { DIALECTIC_BASE_URL: 'http://127.0.0.1:9', ...prices };
  const dialectic = await dialecticOnServer({ cwd: folder, env });
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays?');
  const common = ['brief.md', '-p', 'decision-memo'];

  const two = ['-m', 'compatible/a', '-m', 'offline/builder'];
  const asJson = await dialectic('estimate', ...common, ...two, '--json');
  expect(asJson.code, asJson.stderr).toBe(0);
  const estimate = JSON.parse(asJson.stdout);
  expect(estimate).toMatchObject({ documents: 10, unpriced: [], learnedDocuments: 0 });
  expect(estimate.models.map((one: { model: string }) => one.model)).toEqual([
    'compatible/a',
    'offline/builder',
  ]);
  expect(estimate.models[0].costUsd.middle).toBe(estimate.costUsd.middle);
  expect(estimate.models[1].costUsd.high).toBe(0);

  const asText = await dialectic('estimate', ...common, '-m', 'compatible/q');
  expect(asText.stdout).toContain('The price is unknown for compatible/q.');

  const poor = ['--no-preflight', '--budget', '0.01', '--json'];
  const refused = await dialectic('run', ...common, ...two, ...poor);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  const { error } = JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '');
  expect(error.code).toBe('spending_unconfirmed');
  expect(error.message).toContain('and its budget leaves $0.010: it would pause before its end.');
  expect(existsSync(join(folder, 'brief-plan'))).toBe(false);

  const stop = ['--until', 'propose', '--json'];
  const run = await dialectic('run', ...common, ...OFFLINE, ...stop);
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toMatch(/Estimate: \d+ calls, .* tokens in, .* out, no cost\nSession /);
  const result = JSON.parse(run.stdout);
  const listed = await dialectic('list', '--json');
  expect(JSON.parse(listed.stdout)).toHaveLength(1);
  expect(result.estimate.calls.middle).toBe(result.calls);
}, 240_000);

test('estimate refuses what a run would refuse', async () => {
  const folder = await temporaryFolder();
  const dialectic = await dialecticOnServer({ cwd: folder });
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays?');
  const common = ['estimate', 'brief.md', '-m', 'offline/builder'];
  const until = await dialectic(...common, '--until', 'nope');
  expect(until).toMatchObject({ code: 2, stdout: '' });
  const writer = await dialectic(...common, '--writer', 'offline/other');
  expect(writer.stderr).toContain('offline/other takes no part in this run.');
}, 120_000);
