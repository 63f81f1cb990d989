import { describe, expect, test } from 'vitest';
import { approveStage, iterateSession } from '../../src/session/advance.ts';
import { readSessionEvents } from '../../src/session/events.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { resumeRun } from '../../src/session/resume.ts';
import { startRun } from '../../src/session/start.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped, writeTrivially } from './trivial.ts';

const process = shipped('decision-memo');

describe('a run that is to stop after a stage', () => {
  test('rests there with its reason, and resume goes on stage by stage to the end', async () => {
    const database = await openTestStore('server');
    const { tenantId } = await newTenant(database);
    const run = { name: 'P', brief: 'Decide.', process, models: ['x/a'] };
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, { ...run, untilStage: 'clarify' }),
    );
    const place = { tenantId, sessionId };
    const done: string[] = [];
    const execute = writeTrivially(({ stage, documentKey }) => {
      done.push(`${stage}/${documentKey}`);
      return {};
    });
    const read = () => database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
    const readme = async () => {
      const { files } = await database.asTenant(tenantId, async (tx) =>
        exportSession(tx, await readSession(tx, sessionId)),
      );
      return files.get('project_readme.md')!;
    };

    await runUntil(database, place, 'awaiting_review', execute);
    expect(await read()).toMatchObject({ awaiting: 'until', untilStage: 'clarify' });
    expect(await read()).toMatchObject({ chosenLaneId: null });
    expect(await readme()).toContain('pass 1, stopped after clarify.');
    expect(await readme()).toContain(`dialectic resume ${sessionId}`);
    await expect(
      database.asTenant(tenantId, (tx) => approveStage(tx, sessionId)),
    ).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('dialectic resume') as string,
    });
    for (const until of ['clarify', 'nowhere']) {
      await expect(
        database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId, { until })),
      ).rejects.toMatchObject({
        code: 'usage_invalid',
        message: expect.stringContaining('propose, challenge, decide') as string,
      });
    }

    await database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId, { until: 'challenge' }));
    await runUntil(database, place, 'awaiting_review', execute);
    expect(await read()).toMatchObject({ awaiting: 'until', untilStage: 'challenge' });
    await database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId));
    await runUntil(database, place, 'completed', execute);
    expect(await read()).toMatchObject({ awaiting: null, untilStage: null });
    expect(await readme()).toContain('pass 1, completed.');
    expect(done).toEqual([
      'clarify/questions',
      'propose/proposal',
      'challenge/challenge',
      'decide/decision',
      'decide/ballot',
    ]);
    const rests = async () => {
      const { events } = await readSessionEvents(database, { ...place, after: null, limit: 500 });
      return events.flatMap((event) =>
        event.kind === 'session-paused' || event.kind === 'session-resumed'
          ? [`${event.kind} ${event.reason}`]
          : [],
      );
    };
    // Transactions of other databases on the server hold readers of events back for a while.
    await expect
      .poll(rests, { timeout: 20_000 })
      .toEqual([
        'session-paused until',
        'session-resumed until',
        'session-paused until',
        'session-resumed until',
      ]);
    await expect(
      database.asTenant(tenantId, (tx) => resumeRun(tx, sessionId)),
    ).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('dialectic iterate') as string,
    });
  }, 120_000);

  test('may have another pass up to the same stage', async () => {
    const database = await openTestStore('server');
    const { tenantId } = await newTenant(database);
    const run = { name: 'P', brief: 'Decide.', process, models: ['x/a'] };
    const { sessionId } = await database.asTenant(tenantId, (tx) =>
      startRun(tx, { ...run, untilStage: 'clarify' }),
    );
    await runUntil(database, { tenantId, sessionId }, 'awaiting_review');
    await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
    await runUntil(database, { tenantId, sessionId }, 'awaiting_review');
    const session = await database.asTenant(tenantId, (tx) => readSession(tx, sessionId));
    expect(session).toMatchObject({ iteration: 2, awaiting: 'until' });
  }, 120_000);
});
