import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { workOnRun } from '../../src/api/work-on-run.ts';
import type { Database } from '../../src/db/database.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { BrokenOff, nextTurn, Slices } from '../../src/platform/clock.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { updateFolder } from '../../src/session/write-folder.ts';
import { describeOnBoth, newTenant, openTestStore, temporaryFolder } from '../stores.ts';
import { startModelServer } from '../wallet/model-server.ts';
import { configFor, startDebate } from '../wallet/sessions.ts';
import { watchTexts } from '../watch-texts.ts';

const namesIn = (folder: string): Promise<string[]> => readdir(folder, { recursive: true });

describeOnBoth('the folder of a run', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  test('holds what a stage made while models work on the next, and all at the end', async () => {
    const { tenantId } = await newTenant(database);
    const out = join(await temporaryFolder(), 'out');
    const holdsDrafts = async (): Promise<boolean> =>
      (await namesIn(out)).some((name) => name.endsWith('draft_0_raw.json'));
    let asked = 0;
    const held: Promise<unknown>[] = [];
    // The answers of the second stage come when the documents of the first are in the folder.
    const server = await startModelServer({
      rest: async () => {
        if (++asked <= 2) return;
        held.push(expect.poll(holdsDrafts, { timeout: 20_000 }).toBe(true));
        await Promise.allSettled(held);
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
    let status = '';
    for await (const event of workOnRun(store, sessionId, { out })) {
      if (event.kind === 'run-rested') status = event.result.status;
    }
    expect(status).toBe('completed');
    await Promise.all(held);
    expect(held).toHaveLength(2);
    const { files } = await database.asTenant(tenantId, async (tx) =>
      exportSession(tx, await readSession(tx, sessionId)),
    );
    const expectWhole = async (): Promise<void> => {
      for (const [path, text] of files) expect(await readFile(join(out, path), 'utf8')).toBe(text);
    };
    await expectWhole();

    const takeTexts = await watchTexts(database);
    await updateFolder(database, tenantId, sessionId);
    // Neither prompts nor documents are read again.
    const isOfTexts = (text: string): boolean => /request_parts|d\.content/.test(text);
    expect(takeTexts().filter(isOfTexts)).toEqual([]);
    await expectWhole();

    const paths = [...files.keys()];
    await rm(join(out, paths.find((path) => path.endsWith('_prompt.md'))!));
    const changed = paths.find((path) => path.endsWith('_raw.json'))!;
    await writeFile(join(out, changed), 'mine');
    const ended = new Slices(nextTurn, AbortSignal.abort());
    await expect(updateFolder(database, tenantId, sessionId, ended)).rejects.toThrow(BrokenOff);
    const { changedFiles } = await updateFolder(database, tenantId, sessionId);
    expect(changedFiles).toEqual([changed]);
    expect(await readFile(join(out, changed), 'utf8')).toBe('mine');
    await rm(join(out, changed));
    await updateFolder(database, tenantId, sessionId);
    await expectWhole();
  });
});
