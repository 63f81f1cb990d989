import { beforeAll, expect, test } from 'vitest';
import { followRun, type RunEvent } from '../../src/api/follow-run.ts';
import type { Database } from '../../src/db/database.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { configFor, startDebate } from '../wallet/sessions.ts';
import { watchTexts } from '../watch-texts.ts';

describeOnBoth('the events of a run', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  test('end at once when the log of a session that rests is read', async () => {
    const { tenantId } = await newTenant(database);
    const { sessionId } = await startDebate(database, tenantId, 1);
    await database.asTenant(tenantId, (tx) =>
      tx.query(`update sessions set status = 'completed' where id = $1`, [sessionId]),
    );
    const closing = new AbortController().signal;
    const store = {
      database,
      tenantId,
      models: configFor(''),
      jobs: DEFAULT_JOB_SETTINGS,
      log: () => {},
    };
    const events = followRun({ ...store, closing }, sessionId, {});
    let last: RunEvent['kind'] | undefined;
    while (last !== 'caught-up') last = (await events.next()).value?.kind;
    // Else a write of the folder begins that the last one does again.
    const takeTexts = await watchTexts(database);
    expect((await events.next()).done).toBe(true);
    expect(takeTexts()).toEqual([]);
  });
});
