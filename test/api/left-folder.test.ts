import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { workOnRun } from '../../src/api/work-on-run.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { sleep } from '../../src/platform/clock.ts';
import type * as safeWrites from '../../src/platform/safe-writes.ts';
import { newTenant, openTestStore, temporaryFolder } from '../stores.ts';
import { startModelServer } from '../wallet/model-server.ts';
import { configFor, startDebate } from '../wallet/sessions.ts';

/** A slow disk. */
vi.mock('../../src/platform/safe-writes.ts', async (original) => {
  const real = await original<typeof safeWrites>();
  const replaceText: typeof real.replaceText = async (...given) => {
    await sleep(50);
    return real.replaceText(...given);
  };
  return { ...real, replaceText };
});

test('who leaves a run while its folder is written finds it whole', async () => {
  const database = await openTestStore('embedded');
  const { tenantId } = await newTenant(database);
  const out = join(await temporaryFolder(), 'out');
  const names = (): Promise<string[]> => readdir(out, { recursive: true }).catch(() => []);
  const isUnderWay = async (): Promise<boolean> =>
    (await names()).some((name) => name.endsWith('draft_0_raw.json'));
  let asked = 0;
  // The answers of the second stage come while the documents of the first are written.
  const server = await startModelServer({
    rest: async () => {
      if (++asked <= 2) return;
      await expect.poll(isUnderWay, { timeout: 20_000, interval: 5 }).toBe(true);
    },
  });
  onTestFinished(() => server.stop());
  const { sessionId } = await startDebate(database, tenantId, 1);
  const store = {
    database,
    tenantId,
    models: configFor(server.url),
    jobs: DEFAULT_JOB_SETTINGS,
    log: () => {},
    closing: new AbortController().signal,
  };
  let isLeft = false;
  for await (const _ of workOnRun(store, sessionId, { out })) {
    isLeft = await isUnderWay();
    if (isLeft) break;
  }
  expect(isLeft).toBe(true);
  const list = await readFile(join(out, '.dialectic-files.json'), 'utf8');
  const { files } = JSON.parse(list) as { files: string[] };
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((path) => !existsSync(join(out, path)))).toEqual([]);
}, 60_000);
