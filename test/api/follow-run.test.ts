import { beforeAll, expect, test } from 'vitest';
import { followRun, type RunEvent } from '../../src/api/follow-run.ts';
import type { Store } from '../../src/api/store.ts';
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

  /** The events of a session that no worker works on, and what completes it. */
  async function follow() {
    const { tenantId } = await newTenant(database);
    const { sessionId } = await startDebate(database, tenantId, 1);
    const complete = () =>
      database.asTenant(tenantId, (tx) =>
        tx.query(`update sessions set status = 'completed' where id = $1`, [sessionId]),
      );
    const store: Store = {
      database,
      tenantId,
      models: configFor(''),
      jobs: DEFAULT_JOB_SETTINGS,
      log: () => {},
      closing: new AbortController().signal,
    };
    return { events: followRun(store, sessionId, {}), complete };
  }

  test('end at once when the log of a session that rests is read', async () => {
    const { events, complete } = await follow();
    await complete();
    let last: RunEvent['kind'] | undefined;
    while (last !== 'caught-up') last = (await events.next()).value?.kind;
    // Else a write of the folder begins that the last one does again.
    const takeTexts = await watchTexts(database);
    expect((await events.next()).done).toBe(true);
    expect(takeTexts()).toEqual([]);
  });

  test('hold the last ones of a session that ends while they are read', async () => {
    const { events, complete } = await follow();
    const kinds: unknown[] = [(await events.next()).value?.kind];
    // The page that this event came with is read, and the status of the session is not.
    await complete();
    for await (const { kind: one } of events) kinds.push(one);
    expect(kinds.slice(-2)).toEqual(['session-completed', 'caught-up']);
  });
});
