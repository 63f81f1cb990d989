import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readEvents } from '../../src/db/events.ts';
import { migrate } from '../../src/db/migrate.ts';
import { saveBlob } from '../../src/documents/blobs.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { addGate, removeGate, retrySession } from '../../src/jobs/sessions.ts';
import { iterateSession } from '../../src/session/advance.ts';
import type { SessionEvent } from '../../src/session/event-types.ts';
import { EventNudge, readSessionEvents, watchSession } from '../../src/session/events.ts';
import { countSteps, NO_EVENTS, reduceSession } from '../../src/session/session-state.ts';
import { startRun } from '../../src/session/start.ts';
import { makeEarlierSchema } from '../contract/earlier-schema.ts';
import { Bench, named, withWorker } from '../engine.ts';
import { compareLog, rebuild } from '../simulation/compare-log.ts';
import { describeOnBoth, newTenant, openStore, openTestStore, temporaryFolder } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const memo = shipped('decision-memo');
const [first] = memo.stages;

describeOnBoth('the events of a session', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const start = (models: readonly string[]) =>
    database.asTenant(tenantId, (tx) =>
      startRun(tx, { name: 'P', brief: 'Build it.', process: memo, models }),
    );

  /** Everything there is once it is enough; other transactions may hold a reader back for a while. */
  async function readUntil(
    sessionId: string,
    isEnough: (events: readonly SessionEvent[]) => boolean,
    limit = 500,
  ) {
    const all: SessionEvent[] = [];
    let after: string | null = null;
    const readOn = async (): Promise<boolean> => {
      const page = await readSessionEvents(database, { tenantId, sessionId, after, limit });
      after = page.cursor;
      all.push(...page.events);
      return page.events.length === 0 && isEnough(all);
    };
    await expect.poll(readOn, { timeout: 60_000, interval: 5 }).toBe(true);
    return all;
  }
  const has = (kind: SessionEvent['kind']) => (events: readonly SessionEvent[]) =>
    events.some((event) => event.kind === kind);
  const ofKind = <K extends SessionEvent['kind']>(events: readonly SessionEvent[], kind: K) =>
    events.filter((event): event is SessionEvent & { kind: K } => event.kind === kind);

  test('tell of each job, step, stage and document where it belongs', async () => {
    const { sessionId } = await start(['x/a', 'x/b']);
    await runUntil(database, { tenantId, sessionId }, 'completed');
    const events = await readUntil(sessionId, has('session-completed'));
    const rows = await database.asTenant(tenantId, (tx) =>
      tx.query(
        `select j.id as "jobId", j.job_type as type, r.stage_key as stage, r.iteration,
           l.id as "laneId", l.ordinal as lane, l.model, j.step_key as step,
           j.document_key as "documentKey"
         from jobs j join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
         left join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
         where j.session_id = $1 order by j.seq`,
        [sessionId],
      ),
    );
    for (const kind of ['job-created', 'job-completed'] as const) {
      const told = ofKind(events, kind);
      expect(told.length).toBe(rows.length);
      for (const row of rows) expect(told).toContainEqual(expect.objectContaining(row));
    }
    const steps = ofKind(events, 'step-completed').map(({ stage, step, lane }) => [
      stage,
      step,
      lane,
    ]);
    const expected = memo.stages.flatMap((stage) =>
      stage.steps.flatMap((step) => [1, 2].map((lane) => [stage.key, step.key, lane])),
    );
    expect(new Set(steps.map(String))).toEqual(new Set(expected.map(String)));
    const keys = memo.stages.map((stage) => stage.key);
    expect(ofKind(events, 'stage-started').map(({ stage }) => stage)).toEqual(keys);
    expect(ofKind(events, 'stage-completed').map(({ stage }) => stage)).toEqual(keys);
    const written = ofKind(events, 'document-created').filter(({ lane }) => lane !== null);
    expect(written.length).toBe(ofKind(events, 'contribution-received').length);
    expect(written[0]).toMatchObject({ stage: first!.key, model: expect.stringMatching(/^x\//) });
    expect(events[0]).toMatchObject({ kind: 'session-started', iteration: 1 });
    const raw = await readEvents(database, { tenantId, after: null, limit: 10_000 });
    expect(raw.map((event) => event.kind)).not.toContain('jobs-changed');
  });

  test('come one at a time with cursors of their own, however they are paged', async () => {
    const bench = await Bench.open(database, tenantId);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const ids = await bench.enqueue(...names.map((name) => named(name)));
    await withWorker(database, { EXECUTE: async () => {} }, () =>
      bench.settled(Object.fromEntries(names.map((name) => [name, 'completed']))),
    );
    const isLast = (events: readonly SessionEvent[]) =>
      ofKind(events, 'job-completed').length === names.length;
    const whole = await readUntil(bench.sessionId, isLast);
    expect(ofKind(whole, 'job-created').map(({ jobId }) => jobId)).toEqual(ids);
    // The five were created by one statement: four of them stand inside of a row.
    expect(whole.filter(({ cursor }) => cursor.split('-').length === 4).length).toBeGreaterThan(3);
    for (const limit of [1, 2, 3]) {
      expect(await readUntil(bench.sessionId, isLast, limit), `pages of ${limit}`).toEqual(whole);
    }
  });

  test('tell of tries, failures, pauses, retries and another pass, with their reasons', async () => {
    const { sessionId } = await start(['x/a', 'x/b']);
    const place = { tenantId, sessionId };
    let faults = 1;
    let broken = true;
    const execute = writeTrivially((planned) => {
      if (planned.stage !== first!.key || !planned.identity.endsWith('/2')) return {};
      if (faults-- > 0) {
        throw new DialecticError('provider_unavailable', 'busy', { details: { retryAfterMs: 1 } });
      }
      if (broken) throw new DialecticError('usage_invalid', 'this lane is broken');
      return {};
    });
    await runUntil(database, place, 'failed', execute);
    broken = false;
    await database.asTenant(tenantId, async (tx) => {
      await addGate(tx, sessionId, 'budget');
      await removeGate(tx, sessionId);
      await retrySession(tx, sessionId);
    });
    await runUntil(database, place, 'completed', execute);
    await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
    const events = await readUntil(sessionId, has('session-continued'));
    const [retried] = ofKind(events, 'job-retried');
    expect(retried).toMatchObject({
      stage: first!.key,
      lane: 2,
      attempt: 1,
      error: { code: 'provider_unavailable', message: 'busy' },
      nextTryAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const failure = { code: 'usage_invalid', message: 'this lane is broken' };
    expect(ofKind(events, 'job-failed')[0]).toMatchObject({ lane: 2, error: failure });
    expect(ofKind(events, 'step-failed')[0]).toMatchObject({ lane: 2, error: failure });
    expect(ofKind(events, 'lane-failed')[0]).toMatchObject({ lane: 2 });
    expect(ofKind(events, 'session-failed')[0]!.error!.code).toBe('stage_incomplete');
    expect(ofKind(events, 'session-paused')[0]).toMatchObject({ reason: 'budget' });
    expect(ofKind(events, 'budget-reached').length).toBe(1);
    expect(ofKind(events, 'session-resumed')[0]).toMatchObject({ reason: 'budget' });
    expect(ofKind(events, 'step-retried')[0]).toMatchObject({ lane: 2 });
    expect(ofKind(events, 'session-retried').length).toBe(1);
    expect(ofKind(events, 'session-continued')[0]).toMatchObject({ iteration: 2 });
    const state = reduceSession(NO_EVENTS, events);
    expect(state).toMatchObject({ status: 'running', iteration: 2, gates: new Set() });
    expect(countSteps(state)).toEqual([]);
  });

  test('tell of text that arrives, of calls and of rendered documents', async () => {
    const { sessionId } = await start(['x/a']);
    const [job] = await database.asTenant(tenantId, async (tx) => {
      const jobs = await tx.query<{ id: string }>('select id from jobs where session_id = $1', [
        sessionId,
      ]);
      const call = [tenantId, randomUUID()];
      const blob = await saveBlob(tx, 'a request');
      await tx.query(
        `insert into model_calls (tenant_id, id, session_id, job_id, model, purpose, request_hash)
         values ($1, $2, $3, $4, 'x/a', 'document', $5)`,
        [...call, sessionId, jobs[0]!.id, blob],
      );
      await tx.query(
        `insert into call_pieces (tenant_id, call_id, seq, body) values ($1, $2, 0, 'Once upon')`,
        call,
      );
      await tx.query(
        `update model_calls set status = 'received', input_tokens = 30, output_tokens = 12
         where tenant_id = $1 and id = $2`,
        call,
      );
      await tx.query('update documents set markdown_hash = $2 where session_id = $1', [
        sessionId,
        blob,
      ]);
      return jobs;
    });
    const events = await readUntil(sessionId, has('document-rendered'));
    const where = { jobId: job!.id, stage: first!.key, iteration: 1, model: 'x/a' };
    expect(ofKind(events, 'text-saved')).toMatchObject([{ ...where, seq: 0, characters: 9 }]);
    expect(ofKind(events, 'call-ended')).toMatchObject([{ ...where, outcome: 'received' }]);
    expect(reduceSession(NO_EVENTS, events).tokens).toBe(42);
    const place = { documentKind: 'seed_prompt', stage: first!.key, version: 1 };
    expect(ofKind(events, 'document-created')).toMatchObject([place]);
    expect(ofKind(events, 'document-rendered')).toMatchObject([place]);
  });

  test('reach whoever watches while the session runs', async () => {
    const { sessionId } = await start(['x/a']);
    const stop = new AbortController();
    const kinds: string[] = [];
    const watching = (async () => {
      const place = { tenantId, sessionId, after: null };
      for await (const { events } of watchSession(database, place, stop.signal)) {
        kinds.push(...events.map((event) => event.kind));
        if (kinds.includes('session-completed')) return;
      }
    })();
    await runUntil(database, { tenantId, sessionId }, 'completed');
    await watching;
    expect(kinds).toEqual(
      (await readUntil(sessionId, has('session-completed'))).map((event) => event.kind),
    );
  });

  test('are read at once after a nudge', async () => {
    const { sessionId } = await start(['x/a']);
    const stop = new AbortController();
    const nudge = new EventNudge();
    let looks = 0;
    const watched: Database = Object.create(database, {
      asTenant: {
        value: (...parameters: Parameters<Database['asTenant']>) => {
          looks++;
          return database.asTenant(...parameters);
        },
      },
    });
    const watching = (async () => {
      const place = { tenantId, sessionId, after: null };
      for await (const _ of watchSession(watched, place, stop.signal, nudge));
    })();
    const lookAgain = (): number => {
      nudge.now();
      return looks;
    };
    // Without nudges it looks twice a second, and this would take half a minute.
    await expect.poll(lookAgain, { interval: 5, timeout: 20_000 }).toBeGreaterThan(60);
    stop.abort();
    await watching;
  });
});

test('of a session that is older than the log are made from its tables', async () => {
  const dataDirectory = join(await temporaryFolder(), 'data');
  const database = await openStore({ dataDirectory }, { migrate: false });
  await makeEarlierSchema(database, 7);
  const [tenantId, sessionId, run, ...jobs] = Array.from({ length: 5 }, () => randomUUID());
  await database.transaction({ as: 'owner' }, async (tx) => {
    const session = [tenantId, sessionId];
    await tx.query(`insert into tenants (tenant_id, name) values ($1, 'T')`, [tenantId]);
    await tx.query(
      `insert into sessions (tenant_id, id, status, gates, iteration)
       values ($1, $2, 'failed', '{budget}', 2)`,
      session,
    );
    await tx.query(
      `insert into stage_runs (tenant_id, id, session_id, iteration, stage_key, state)
       values ($1, $3, $2, 2, 'thesis', 'failed')`,
      [...session, run],
    );
    for (const [index, status] of ['completed', 'retrying'].entries()) {
      await tx.query(
        `insert into jobs (tenant_id, session_id, id, chain_id, stage_run_id, job_type, status)
         values ($1, $2, $3, $3, $4, 'EXECUTE', $5)`,
        [...session, jobs[index], run, status],
      );
    }
  });
  await migrate(database);
  expect(await compareLog(database, tenantId!, sessionId!)).toEqual([]);
  const state = await rebuild(database, tenantId!, sessionId!);
  expect(state.jobs.get(jobs[1]!)).toMatchObject({ stage: 'thesis', iteration: 2 });
  expect([...state.progress]).toEqual([['2/thesis', 'failed']]);
});
