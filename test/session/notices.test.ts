import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openNotices } from '../../src/db/notices.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { addGate, removeGate } from '../../src/jobs/sessions.ts';
import { resumeRun } from '../../src/session/resume.ts';
import { startRun } from '../../src/session/start.ts';
import { cancelRun } from '../../src/session/stop.ts';
import { noteShortage } from '../../src/wallet/ledger.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const memo = shipped('decision-memo');
const [first] = memo.stages;

describeOnBoth('the notices of a session', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });
  async function start() {
    const { tenantId } = await newTenant(database);
    const run = { name: 'P', brief: 'Build it.', process: memo, models: ['x/a', 'x/b'] };
    const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
    const read = async () =>
      (await database.asTenant(tenantId, (tx) => openNotices(tx))).filter(
        ({ topic }) => topic === `session/${sessionId}`,
      );
    return { tenantId, sessionId, read };
  }

  test('name what failed for good, where, and not what only ended with it', async () => {
    const { tenantId, sessionId, read } = await start();
    const execute = writeTrivially((planned) => {
      if (!planned.identity.endsWith('/2')) return {};
      throw new DialecticError('model_refused', 'the filter said no');
    });
    await runUntil(database, { tenantId, sessionId }, 'failed', execute);
    const [step] = first!.steps;
    const notices = (await read()).map(({ severity, code, message }) => [severity, code, message]);
    expect(notices).toEqual([
      [
        'error',
        'model_refused',
        `Step ${step!.key} of stage ${first!.key} of participant 2 (x/b) failed: the filter said no`,
      ],
      [
        'error',
        'stage_incomplete',
        `Stage ${first!.key} failed: 1 of 2 participants failed in stage ${first!.key}.`,
      ],
    ]);
  });

  test('tell once that a session is paused for money, and what to do', async () => {
    const { tenantId, sessionId, read } = await start();
    const place = { tenantId, sessionId };
    const pause = (gate: 'budget' | 'funds' | 'approval' | 'user', scope: string | null) =>
      database.asTenant(tenantId, async (tx) => {
        const shortage = scope === null ? null : ({ scope, currency: 'token' } as const);
        await noteShortage(
          tx,
          place.sessionId,
          gate,
          shortage as Parameters<typeof noteShortage>[3],
        );
        await addGate(tx, sessionId, gate);
      });
    await pause('budget', 'session');
    await pause('budget', 'session');
    await pause('funds', 'user');
    await pause('approval', null);
    await pause('user', null);
    await database.asTenant(tenantId, (tx) => removeGate(tx, sessionId));
    await pause('budget', 'tenant');
    const resume = `dialectic resume ${sessionId}`;
    expect((await read()).map(({ code, message }) => [code, message])).toEqual([
      [
        'budget_reached',
        'The budget of the session is reached, so it is paused. ' +
          `Raise it with: ${resume} --budget-tokens TOKENS`,
      ],
      [
        'funds_exhausted',
        'The wallet is short, so the session is paused. ' +
          `Add to it with: dialectic wallet grant TOKENS --tokens. Then: ${resume}`,
      ],
      [
        'approval_needed',
        'One call would take more than the set share of the wallet, so the session is paused. ' +
          `Approve it and all later calls with: ${resume}`,
      ],
      [
        'budget_reached',
        'The budget of the tenant is reached, so the session is paused. ' +
          `Raise it with: dialectic wallet budget TOKENS --tokens. Then: ${resume}`,
      ],
    ]);
  });

  test('go away when the session goes on, and come back with the next pause', async () => {
    const { tenantId, sessionId, read } = await start();
    const close = () => database.asTenant(tenantId, (tx) => addGate(tx, sessionId, 'budget'));
    await close();
    expect(await read()).toHaveLength(1);
    await database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId));
    expect(await read()).toEqual([]);
    await close();
    expect(await read()).toHaveLength(1);
    await database.asTenant(tenantId, (tx) => cancelRun(tx, sessionId));
    expect(await read()).toEqual([]);
  });
});
