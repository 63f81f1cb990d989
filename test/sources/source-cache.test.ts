import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { PerformanceMonitor } from '../../src/platform/performance-monitor.ts';
import { startRun } from '../../src/session/start.ts';
import { SettingsAdapter } from '../../src/sources/adapt-settings.ts';
import { describeMetrics } from '../../src/sources/describe-metrics.ts';
import { completeMeasured } from '../../src/sources/metrics.ts';
import { readPerformance, savePerformance } from '../../src/sources/performance.ts';
import { admitSources } from '../../src/sources/project-sources.ts';
import { SourceCache } from '../../src/sources/source-cache.ts';
import { recordChecks } from '../../src/sources/source-checks.ts';
import { workPlan } from '../generation/work-plan.ts';
import { newTenant, openTestStore } from '../stores.ts';

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
  ({ tenantId } = await newTenant(database));
});

const startWith = (name: string, text: string) =>
  database.asTenant(tenantId, (tx) =>
    startRun(tx, {
      name,
      brief: 'Bake.',
      process: workPlan(),
      models: ['offline/builder'],
      sources: [{ title: name, excerpts: [text] }],
    }),
  );

/** A cache with its own monitor, and how often it was right. */
function openCache(characters: number) {
  const monitor = new PerformanceMonitor();
  const adapter = new SettingsAdapter({ cacheCharacters: characters, textCharacters: 80_000 });
  const cache = new SourceCache(adapter, monitor);
  const read = (sessionId: string) =>
    database.asTenant(tenantId, (tx) => cache.read(tx, sessionId));
  return { adapter, read, rate: () => monitor.take().rates['source_cache'] };
}

test('sources are loaded once, and again when something about them has changed', async () => {
  const { sessionId, projectId } = await startWith('Flour', 'Flour costs 1.20 euros.');
  const { read, rate } = openCache(1_000);
  const first = await read(sessionId);
  expect(first.standing.map(({ excerpts }) => excerpts)).toEqual([['Flour costs 1.20 euros.']]);
  expect(await read(sessionId)).toBe(first);
  expect(rate()).toEqual({ hits: 1, misses: 1 });
  await database.asTenant(tenantId, (tx) =>
    admitSources(tx, projectId, [
      { draft: { title: 'Water', excerpts: ['Water is free.'] }, origin: 'added' },
    ]),
  );
  const second = await read(sessionId);
  expect(second.standing.map(({ id }) => id)).toEqual(['S1', 'S2']);
  await database.asTenant(tenantId, (tx) =>
    recordChecks(tx, projectId, [{ id: 'S1', state: 'gone', at: '2026-01-01T00:00:00Z' }]),
  );
  expect(await read(sessionId)).not.toBe(second);
  expect(rate()).toEqual({ hits: 0, misses: 2 });
});

test('a cache that is too small for the load grows until it serves it', async () => {
  const names = ['One', 'Two', 'Three'];
  const sessions = await Promise.all(names.map((name) => startWith(name, name.repeat(100))));
  const { read, rate, adapter } = openCache(800);
  const readAll = async (rounds: number): Promise<void> => {
    for (let at = 0; at < rounds * sessions.length; at++) {
      await read(sessions[at % sessions.length]!.sessionId);
    }
  };
  // Each is dropped before it is asked for again.
  await readAll(10);
  expect(rate()).toEqual({ hits: 0, misses: 30 });
  expect(adapter.settings.cacheCharacters).toBe(800);
  await readAll(2);
  expect(adapter.settings.cacheCharacters).toBe(2_000_000);
  rate();
  await readAll(3);
  // All three have room now.
  expect(rate()).toEqual({ hits: 9, misses: 0 });
});

test('sources that are longer than the cache are kept until another project is read', async () => {
  const long = await startWith('Long', 'A long text. '.repeat(200));
  const other = await startWith('Other', 'A short text.');
  const { read, rate } = openCache(100);
  // Jobs that ask at the same time wait for one reading.
  const [first, second] = await Promise.all([read(long.sessionId), read(long.sessionId)]);
  expect(second).toBe(first);
  expect(await read(long.sessionId)).toBe(first);
  rate();
  await read(other.sessionId);
  expect(await read(long.sessionId)).not.toBe(first);
  expect(rate()).toEqual({ hits: 0, misses: 2 });
});

test('what processes measured is added up in the store, and doctor tells it', async () => {
  const save = (monitor: PerformanceMonitor, adapter = new SettingsAdapter()) =>
    database.asTenant(tenantId, (tx) =>
      savePerformance(tx, { ...completeMeasured(monitor.take()), settings: adapter.settings }),
    );
  const first = new PerformanceMonitor();
  first.observe('fetch', 12_000);
  first.count('duplicates', 1, 3);
  const slow = await save(first);
  expect(describeMetrics(slow)).toEqual({
    message:
      'fetch 12000 ms, p95 12000 ms of 1; duplicates 25 % of 4; cache of 8,000,000 characters; ' +
      'prompts show 80,000 characters of sources in full',
    next: 'Pages come slowly: save those that matter, and name the files with --source.',
  });
  const second = new PerformanceMonitor();
  second.observe('fetch', 4);
  second.count('duplicates', 1, 0);
  const adapter = new SettingsAdapter();
  for (let at = 0; at < 16; at++) adapter.notePrompt(true);
  await save(second, adapter);
  const stored = await database.asTenant(tenantId, readPerformance);
  expect(stored).toMatchObject({
    latencies: { fetch: { count: 2, p95Ms: 4 } },
    rates: { duplicates: { hits: 2, misses: 3 } },
    settings: { textCharacters: 40_000 },
  });
  // A process without settings of its own leaves those that are there.
  const none = completeMeasured(new PerformanceMonitor().take());
  const metrics = { ...none, settings: new SettingsAdapter().settings };
  const kept = await database.asTenant(tenantId, (tx) =>
    savePerformance(tx, metrics, { keepsSettings: true }),
  );
  expect(kept).toEqual(stored);
  expect(describeMetrics(stored!)).toMatchObject({
    message: expect.stringContaining('fetch 4.0 ms, p95 4.0 ms of 2; duplicates 40 % of 5'),
    next: expect.stringContaining('a model with a larger window'),
  });
});
