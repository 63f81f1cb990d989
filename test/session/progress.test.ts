import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { expectSteps, summariseProgress } from '../../src/cli/progress-tree.ts';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import { iterateSession } from '../../src/session/advance.ts';
import { readSession } from '../../src/session/read.ts';
import { countSteps, type StepRow } from '../../src/session/session-state.ts';
import { startRun } from '../../src/session/start.ts';
import { compareLog, rebuild } from '../simulation/compare-log.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const memo = shipped('decision-memo');
let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('embedded');
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

/** Checks the log against the tables, and that the screen never shows more than the plan. */
async function check(sessionId: string): Promise<void> {
  expect(await compareLog(database, tenantId, sessionId)).toEqual([]);
  const rows = countSteps(await rebuild(database, tenantId, sessionId));
  expect(inOrder(rows)).toEqual(inOrder(await countInTables(sessionId)));
  const session = await database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
  const expected = expectSteps(session);
  for (const { stage, step } of rows) {
    const own = rows.filter((row) => row.stage === stage && row.step === step);
    const done = own.reduce((sum, row) => sum + row.done + row.running, 0);
    expect(done).toBeLessThanOrEqual(expected.get(`${stage}/${step}`)!);
  }
  const pace = { before: 0, since: 0, seconds: 10, tokens: 0 };
  const line = summariseProgress(rows, expected, pace);
  const [done, total] = line
    .match(/^(\d+) of about (\d+) calls/)!
    .slice(1)
    .map(Number);
  expect(done).toBeLessThanOrEqual(total!);
  expect(line).not.toContain('-');
}

/** Which calls of which pass fail once: a share of all, drawn by their place. */
const plans = fc.record({
  lanes: fc.integer({ min: 1, max: 3 }),
  passes: fc.integer({ min: 1, max: 2 }),
  broken: fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }),
});

test('the log gives the counts of the tables through failures, resumes and passes', async () => {
  const property = fc.asyncProperty(plans, async ({ lanes, passes, broken }) => {
    const models = Array.from({ length: lanes }, (_, n) => `x/${n}`);
    const run = { name: 'P', brief: 'Build it.', process: memo, models };
    const { sessionId } = await startRun(database, tenantId, run);
    const place = { tenantId, sessionId };
    const left = new Set(broken);
    let calls = 0;
    const execute = writeTrivially(() => {
      if (!left.delete(calls++)) return {};
      throw new DialecticError('usage_invalid', 'broken on purpose');
    });
    for (let pass = 1; pass <= passes; pass++) {
      if (pass > 1) await iterateSession(database, tenantId, sessionId);
      for (let status = 'running'; status !== 'completed'; ) {
        status = await runUntil(database, place, ['completed', 'failed'], execute);
        await check(sessionId);
        if (status === 'failed') {
          await database.asTenant(tenantId, (tx) => retrySession(tx, sessionId));
          await check(sessionId);
        }
      }
    }
  });
  await fc.assert(property, { numRuns: 4, endOnFailure: true });
}, 240_000);
