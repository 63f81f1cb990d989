import { beforeAll, describe, expect, test } from 'vitest';
import { withWorker } from '../../test/engine.ts';
import { shipped } from '../../test/session/trivial.ts';
import { newTenant, openTestStore } from '../../test/stores.ts';
import type { Database } from '../db/database.ts';
import { createHandlers } from '../handlers/create-handlers.ts';
import { readModelsConfig } from '../models/config.ts';
import { createModelProvider } from '../models/provider.ts';
import { readCounts } from '../session/counts.ts';
import { readSession } from '../session/read.ts';
import { type NewRun, startRun } from '../session/start.ts';
import { summarise } from '../session/summary.ts';
import { estimateNewRun } from './estimate-new-run.ts';

const config = readModelsConfig({});
const aim = { kind: 'success_criteria', name: 'aims.md', text: 'Fewer than 3 complaints a week.' };
const run: NewRun = {
  name: 'Library',
  brief: 'Should the library open on Sundays? Two staff, 9,000 euros a year, 300 visitors a day.',
  resources: [aim],
  process: shipped('decision-memo'),
  models: ['offline/builder', 'offline/skeptic'],
};

const NOTHING_MADE = {
  documents: [],
  missing: [],
  citations: null,
  outcome: { decided: [], disagreements: [] },
};

/** Runs to the end with the offline author and returns what was used. */
async function finish(database: Database, tenantId: string) {
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  const read = async () =>
    database.asTenant(tenantId, async (tx) =>
      summarise(tx, await readSession(tx, sessionId), {
        ...NOTHING_MADE,
        counts: await readCounts(tx, sessionId),
      }),
    );
  const handlers = createHandlers({ database, provider: createModelProvider(config), config });
  await withWorker(database, handlers, () =>
    expect
      .poll(async () => (await read()).status, { timeout: 100_000, interval: 50 })
      .toBe('completed'),
  );
  return read();
}

describe('the estimate of a new run', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore('server');
  });

  test('learns from finished runs of the same tenant alone', { timeout: 120_000 }, async () => {
    const { tenantId } = await newTenant(database);
    const { tenantId: stranger } = await newTenant(database, 'Another tenant');
    const before = await estimateNewRun(database, tenantId, run, config);
    expect(before).toMatchObject({ documents: 10, learnedDocuments: 0 });

    const { calls, usage } = await finish(database, tenantId);
    const after = await estimateNewRun(database, tenantId, run, config);
    expect(after.learnedDocuments).toBe(10);
    expect(after.calls.middle).toBe(calls);
    expect(after.outputTokens.middle).toBe(usage.outputTokens);
    expect(after.inputTokens.middle / usage.inputTokens).toBeGreaterThan(0.93);
    expect(after.inputTokens.middle / usage.inputTokens).toBeLessThan(1.07);
    expect(after.inputTokens.low).toBeLessThan(usage.inputTokens);
    expect(after.inputTokens.high).toBeGreaterThan(usage.inputTokens);

    const others = await estimateNewRun(database, stranger, run, config);
    expect(others).toEqual(before);
    const shorter = await estimateNewRun(
      database,
      tenantId,
      { ...run, untilStage: 'propose' },
      config,
    );
    expect(shorter.outputTokens.middle).toBeLessThan(after.outputTokens.middle);
  });

  test('counts brief and sources in every prompt, and the resources where they are read', async () => {
    const { tenantId } = await newTenant(database);
    const text = 'The reading room is full on Saturdays between ten and four. '.repeat(500);
    const sources = [{ title: 'Room', excerpts: [text] }];
    const [small, brief, resource, source] = await Promise.all([
      estimateNewRun(database, tenantId, run, config),
      estimateNewRun(database, tenantId, { ...run, brief: text }, config),
      estimateNewRun(database, tenantId, { ...run, resources: [{ ...aim, text }] }, config),
      estimateNewRun(database, tenantId, { ...run, sources }, config),
    ]);
    const perPrompt = 500 * 12;
    const promptsWith = (one: typeof small): number =>
      (one.inputTokens.low - small.inputTokens.low) / perPrompt;
    expect(promptsWith(brief)).toBeCloseTo(10, 0);
    expect(promptsWith(resource)).toBeCloseTo(4, 0);
    // The contract of citations comes with it.
    expect(promptsWith(source)).toBeCloseTo(10.4, 0);
    // Prompts show 80,000 characters of sources, however long these are.
    const long = [{ title: 'Archive', excerpts: [text.repeat(100)] }];
    const archive = await estimateNewRun(database, tenantId, { ...run, sources: long }, config);
    const shown = 80_000 / text.length;
    expect(promptsWith(archive) / 10).toBeGreaterThan(shown);
    expect(promptsWith(archive) / 10).toBeLessThan(1.1 * shown);
  });
});
