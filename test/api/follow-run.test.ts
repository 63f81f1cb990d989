import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { followRun, type RunEvent } from '../../src/api/follow-run.ts';
import type { Store } from '../../src/api/store.ts';
import type { Database } from '../../src/db/database.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { elapsedMs, sleep } from '../../src/platform/clock.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { configFor, startDebate } from '../wallet/sessions.ts';
import { watchTexts } from '../watch-texts.ts';

describeOnBoth('the events of a run', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  /** The events of a session that no worker works on, and what completes it. */
  async function follow(signal?: AbortSignal) {
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
    return { events: followRun(store, sessionId, { signal }), complete };
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

  // The embedded store has one connection, so that no transaction delays another one's readers.
  test.runIf(kind === 'server')('end with the signal while a transaction delays them', async () => {
    const stop = new AbortController();
    const { events, complete } = await follow(stop.signal);
    const [held, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = database.transaction({ as: 'owner' }, async (tx) => {
      await tx.query('select pg_current_xact_id()');
      held.resolve();
      await done.promise;
    });
    await held.promise;
    // Also where the test fails: closing the store would wait for it.
    onTestFinished(async () => {
      done.resolve();
      await other;
    });
    await complete();
    const startedMs = elapsedMs();
    void sleep(200).then(() => stop.abort());
    for await (const _ of events);
    expect(elapsedMs() - startedMs).toBeLessThan(2_000);
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
