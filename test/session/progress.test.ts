import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { keepPace, type Pace, secondsLeft } from '../../src/cli/screen/pace.ts';
import { expectSteps, viewRun } from '../../src/cli/screen/run-view.ts';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import { iterateSession } from '../../src/session/advance.ts';
import type { SessionEvent } from '../../src/session/event-types.ts';
import { readSession, type SessionView } from '../../src/session/read.ts';
import {
  countSteps,
  NO_EVENTS,
  reduceSession,
  type StepRow,
} from '../../src/session/session-state.ts';
import { startRun } from '../../src/session/start.ts';
import { compareLog, readLog, rebuild } from '../simulation/compare-log.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const memo = shipped('decision-memo');
let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
  ({ tenantId } = await newTenant(database));
});

/** The counts of the current pass, straight from the tables. */
const countInTables = (sessionId: string) =>
  database.asTenant(tenantId, (tx) =>
    tx.query<StepRow>(
      `select r.stage_key as stage, j.step_key as step, l.ordinal as lane,
         count(*) filter (where j.status = 'completed' and not j.continued) as done,
         count(*) filter (where not is_over(j.status)) as running,
         count(*) filter (where j.status in ('failed', 'cancelled')) as failed
       from jobs j join sessions s on s.tenant_id = j.tenant_id and s.id = j.session_id
       join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
         and r.iteration = s.iteration
       join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
       where j.session_id = $1 and j.job_type = 'EXECUTE' group by 1, 2, 3`,
      [sessionId],
    ),
  );

const inOrder = (rows: readonly StepRow[]): string[] =>
  rows
    .map((row) => [row.stage, row.step, row.lane, row.done, row.running, row.failed].join(' '))
    .toSorted();

/** Checks the log against the tables. */
async function check(sessionId: string): Promise<void> {
  const differs = () => compareLog(database, tenantId, sessionId);
  // Transactions of other tests on the same server delay readers of the log.
  await expect.poll(differs, { interval: 20 }).toEqual([]);
  const rows = countSteps(await rebuild(database, tenantId, sessionId));
  expect(inOrder(rows)).toEqual(inOrder(await countInTables(sessionId)));
}

/** Which calls of which pass fail once, for good or in passing: a share of all, by their place. */
const plans = fc.record({
  lanes: fc.integer({ min: 1, max: 3 }),
  passes: fc.integer({ min: 1, max: 2 }),
  broken: fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }),
  refused: fc.array(fc.nat(40), { maxLength: 4 }),
});

type Log = { readonly session: SessionView; readonly events: readonly SessionEvent[] };
const logs: Log[] = [];

test('the log gives the counts of the tables through failures, resumes and passes', async () => {
  const property = fc.asyncProperty(plans, async ({ lanes, passes, broken, refused }) => {
    const models = Array.from({ length: lanes }, (_, n) => `x/${n}`);
    const run = { name: 'P', brief: 'Build it.', process: memo, models };
    const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
    const place = { tenantId, sessionId };
    const [left, passing] = [new Set(broken), new Set(refused)];
    let calls = 0;
    const execute = writeTrivially(() => {
      const call = calls++;
      if (left.delete(call)) throw new DialecticError('usage_invalid', 'broken on purpose');
      if (!passing.delete(call)) return {};
      const details = { retryAfterMs: 0 };
      throw new DialecticError('provider_unavailable', 'passes', { retryable: true, details });
    });
    for (let pass = 1; pass <= passes; pass++) {
      if (pass > 1) await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
      for (let status = 'running'; status !== 'completed'; ) {
        status = await runUntil(database, place, ['completed', 'failed'], execute);
        await check(sessionId);
        if (status === 'failed') {
          await database.asTenant(tenantId, (tx) => retrySession(tx, sessionId));
          await check(sessionId);
        }
      }
    }
    const session = await database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
    logs.push({ session, events: await readLog(database, tenantId, sessionId) });
  });
  const known = { lanes: 2, passes: 2, broken: [3, 14], refused: [1, 8, 17] };
  await fc.assert(property, { numRuns: 4, endOnFailure: true, examples: [[known]] });
}, 240_000);

/** The same events as other workers could have brought them: what concerns two jobs may swap. */
function interleave(events: readonly SessionEvent[], swaps: readonly number[]): SessionEvent[] {
  const order = [...events];
  for (const swap of swaps) {
    const at = swap % (order.length - 1);
    const [one, next] = [order[at]!, order[at + 1]!];
    const isFree = 'status' in one && 'status' in next && one.jobId !== next.jobId;
    if (isFree) order.splice(at, 2, next, one);
  }
  return order;
}

/** What the screen must not say, by a count of the events that shares nothing with its own. */
function expectTrue({ session, events }: Log, pace: Pace | undefined, nowMs: number): Pace {
  const state = reduceSession(NO_EVENTS, events);
  const expected = expectSteps(session);
  const { stages, done, total, calls, queued, retries } = viewRun(session, expected, state);
  const pass = Math.max(1, ...events.map(({ iteration }) => iteration ?? 1));
  const last = new Map<string, string>();
  /** By stage, what happened last to the job that judges its lanes. */
  const heads = new Map<string | null, string>();
  for (const event of events) {
    if (event.iteration !== pass) continue;
    if ('status' in event && event.type === 'EXECUTE') last.set(event.jobId, event.kind);
    if ('status' in event && event.lane === null) heads.set(event.stage, event.kind);
    if (event.kind.startsWith('stage-') && 'stage' in event) last.set(event.stage!, event.kind);
    if (event.kind.startsWith('step-') && 'step' in event) {
      last.set(`${event.stage}/${event.step}/${event.lane}`, event.kind);
    }
  }
  const count = (kind: string) => [...last.values()].filter((one) => one === kind).length;
  expect(done).toBe(count('job-completed'));
  expect(calls.length).toBe(count('job-started'));
  expect(retries.length).toBe(count('job-retried'));
  expect(done + calls.length + queued + retries.length).toBeLessThanOrEqual(total);
  const planned = [...expected.values()].reduce((sum, one) => sum + one, 0);
  expect(total).toBeLessThanOrEqual(planned);
  for (const [at, stage] of stages.entries()) {
    const { key, steps } = session.process.stages[at]!;
    if (stage.mark === 'done') expect(heads.get(key)).toBe('job-completed');
    if (stage.mark === 'done') expect(last.get(key)).toBe('stage-completed');
    expect(stage.done).toBeLessThanOrEqual(stage.total);
    for (const [index, step] of stage.steps.entries()) {
      expect(step.done).toBeLessThanOrEqual(step.total);
      const ends = session.lanes.map(({ ordinal }) =>
        last.get(`${key}/${steps[index]!.key}/${ordinal}`),
      );
      if (step.mark === 'done') expect(new Set(ends)).toEqual(new Set(['step-completed']));
    }
  }
  const told = events.findLast(({ kind }) => /^session-(?!paused|resumed)/.test(kind));
  if (told?.kind === 'session-failed') {
    const opened = stages.findLast(({ mark }) => mark !== 'waiting');
    // A retry reopens the jobs before it tells that the session goes on.
    expect(opened?.mark).not.toBe('done');
  }
  const kept = keepPace(pace, { iteration: state.iteration, done }, nowMs);
  expect(secondsLeft(kept, { done, total }, nowMs) ?? 0).toBeGreaterThanOrEqual(0);
  return kept;
}

const views = fc.record({
  log: fc.nat(),
  swaps: fc.array(fc.nat(), { maxLength: 60 }),
  /** Where a process looks, and where the next one takes over; as shares of the log. */
  looks: fc.array(fc.nat(1000), { minLength: 1, maxLength: 12 }),
  restart: fc.nat(12),
});

test('no prefix of a log counts above the plan, ticks too early or has negative time left', () => {
  expect(logs.length).toBeGreaterThan(0);
  const kinds = new Set(logs.flatMap(({ events }) => events.map(({ kind }) => kind)));
  for (const kind of ['job-retried', 'job-failed', 'job-reopened', 'session-continued'] as const) {
    expect(kinds).toContain(kind);
  }
  const property = fc.property(views, ({ log, swaps, looks, restart }) => {
    const { session, events } = logs[log % logs.length]!;
    const order = interleave(events, swaps);
    let pace: Pace | undefined;
    for (const [at, share] of looks.toSorted((a, b) => a - b).entries()) {
      if (at === restart) pace = undefined;
      const until = Math.ceil((share * order.length) / 1000);
      pace = expectTrue({ session, events: order.slice(0, until) }, pace, at * 1000);
    }
    const expected = expectSteps(session);
    const whole = (all: readonly SessionEvent[]) =>
      viewRun(session, expected, reduceSession(NO_EVENTS, all));
    expect(whole(order)).toEqual(whole(events));
  });
  fc.assert(property, { numRuns: 60 });
});
