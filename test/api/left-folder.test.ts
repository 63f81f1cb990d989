import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FoldersOfAll } from '../../src/api/folders-of-all.ts';
import { workOnAll } from '../../src/api/work-on-all.ts';
import { workOnRun } from '../../src/api/work-on-run.ts';
import { cancelSession } from '../../src/jobs/sessions.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import type { EndedJob } from '../../src/jobs/worker.ts';
import { sleep } from '../../src/platform/clock.ts';
import type * as safeWrites from '../../src/platform/safe-writes.ts';
import { eraseProject } from '../../src/session/erase-project.ts';
import type * as writeFolder from '../../src/session/write-folder.ts';
import { takeFolder } from '../../src/session/write-folder.ts';
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

/** What goes wrong before the folder of a session is written, if anything does. */
const fault = vi.hoisted(() => ({ of: async (_session: string): Promise<void> => {} }));
vi.mock('../../src/session/write-folder.ts', async (original) => {
  const real = await original<typeof writeFolder>();
  const updateFolder: typeof real.updateFolder = async (...given) => {
    await fault.of(given[2]);
    return real.updateFolder(...given);
  };
  return { ...real, updateFolder };
});

/**
 * A store with a debate, and the folder that it is written to. The answers of the second stage come
 * when `until` resolves.
 */
async function prepare(until: (isUnderWay: () => Promise<boolean>) => Promise<unknown>) {
  const database = await openTestStore('embedded');
  const { tenantId } = await newTenant(database);
  const out = join(await temporaryFolder(), 'out');
  const names = (): Promise<string[]> => readdir(out, { recursive: true }).catch(() => []);
  const isUnderWay = async (): Promise<boolean> =>
    (await names()).some((name) => name.endsWith('draft_0_raw.json'));
  let asked = 0;
  const server = await startModelServer({
    rest: async () => {
      if (++asked > 2) await until(isUnderWay);
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
  return { store, sessionId, out, isUnderWay };
}

/** A store with two debates, each with a folder of its own; `other` is that of the second. */
async function prepareTwo() {
  const { store, sessionId: first, out } = await prepare(async () => {});
  const { database, tenantId } = store;
  const { sessionId: second } = await startDebate(database, tenantId, 1);
  const other = `${out}-2`;
  await takeFolder(database, tenantId, first, out);
  await takeFolder(database, tenantId, second, other);
  return { store, first, second, other };
}

const endedIn = (tenantId: string, sessions: readonly string[]): EndedJob[] =>
  sessions.map((sessionId) => ({
    job: { tenantId, sessionId, role: 'stage' },
  })) as unknown as EndedJob[];

const untilTrue = (check: () => Promise<boolean>): Promise<void> =>
  expect.poll(check, { timeout: 20_000, interval: 5 }).toBe(true);

async function expectWhole(out: string): Promise<void> {
  const list = await readFile(join(out, '.dialectic-files.json'), 'utf8');
  const { files } = JSON.parse(list) as { files: string[] };
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((path) => !existsSync(join(out, path)))).toEqual([]);
}

test('who leaves a run while its folder is written finds it whole', async () => {
  const { store, sessionId, out, isUnderWay } = await prepare(untilTrue);
  let isLeft = false;
  for await (const _ of workOnRun(store, sessionId, { out })) {
    isLeft = await isUnderWay();
    if (isLeft) break;
  }
  expect(isLeft).toBe(true);
  await expectWhole(out);
}, 60_000);

test('who leaves a worker that was told to end while it writes a folder finds it whole', async () => {
  const stop = new AbortController();
  const { store, sessionId, out } = await prepare(async (isUnderWay) => {
    await untilTrue(isUnderWay);
    stop.abort();
  });
  await takeFolder(store.database, store.tenantId, sessionId, out);
  let isLeft = false;
  for await (const _ of workOnAll(store, { signal: stop.signal })) {
    isLeft = stop.signal.aborted;
    if (isLeft) break;
  }
  expect(isLeft).toBe(true);
  await expectWhole(out);
}, 60_000);

test('a write that failed while a worker ends leaves the last one to be made', async () => {
  const stop = new AbortController();
  const failed = Promise.withResolvers<void>();
  const { store, sessionId, out } = await prepare(() => failed.promise);
  await takeFolder(store.database, store.tenantId, sessionId, out);
  fault.of = async () => {
    fault.of = async () => {};
    stop.abort();
    await sleep(100); // by then the worker hears of nothing but its own end
    failed.resolve();
    throw new Error('unforeseen');
  };
  const working = (async () => {
    for await (const _ of workOnAll(store, { signal: stop.signal }));
  })();
  await expect(working).rejects.toThrow('unforeseen');
  await expectWhole(out);
}, 60_000);

test('a project that is erased before its folder is written ends no worker', async () => {
  const { store, first, second, other } = await prepareTwo();
  const { database, tenantId } = store;
  await database.asTenant(tenantId, async (tx) => {
    await cancelSession(tx, first);
    const { project_id: project } = await tx.queryOne<{ project_id: string }>(
      'select project_id from sessions where id = $1',
      [first],
    );
    await eraseProject(tx, project);
  });
  const folders = new FoldersOfAll(store, { isWaiting: () => true, quietForMs: () => 0 });
  const news = await folders.finish(endedIn(tenantId, [first, second]));
  expect(news).toEqual([{ kind: 'folder-written', session: second, folder: other }]);
  expect(await folders.finish([])).toEqual([]);
  expect(folders.isBehind).toBe(false);
}, 60_000);

test('a folder that cannot be written for an unforeseen reason keeps no other from it', async () => {
  const { store, first, second, other } = await prepareTwo();
  fault.of = async (session) => {
    if (session === first) throw new Error('unforeseen');
  };
  onTestFinished(() => {
    fault.of = async () => {};
  });
  const folders = new FoldersOfAll(store, { isWaiting: () => true, quietForMs: () => 0 });
  await expect(folders.finish(endedIn(store.tenantId, [first, second]))).rejects.toThrow(
    'unforeseen',
  );
  expect(await readdir(other)).toContain('project_readme.md');
}, 60_000);
