import { expect, onTestFinished, test } from 'vitest';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { providerLimits } from '../../src/handlers/provider-limits.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { startScriptedServer } from './scripted-server.ts';

const CONCURRENCY = 2;

test('the concurrency of a provider holds over two workers of a server', async () => {
  const database = await openTestStore('server', { connections: 16 });
  const { tenantId } = await newTenant(database);
  let most = 0;
  const pace = { pieceChars: 20, gapMs: 20 };
  const server = await startScriptedServer(({ deliverable }) => {
    most = Math.max(most, server.served.filter((row) => !row.over).length);
    return { text: JSON.stringify({ text: `What there is to say about ${deliverable}.` }) };
  }, pace);
  onTestFinished(() => server.stop());
  const keys = Array.from({ length: 12 }, (_, n) => `document_${n + 1}`);
  const steps = keys.map((key) => step(key, 'PLAN', 'all_to_one', key, ['seed:draft/']));
  const process = processOf('drafts', [stage('draft', steps)]);
  const run = { name: 'Drafts', brief: 'Write.', process, models: ['compatible/m'] };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  const config = readModelsConfig(
    { DIALECTIC_BASE_URL: server.url },
    { providers: { compatible: { concurrency: CONCURRENCY } } },
  );
  // Neither can take all jobs, so without the limit both would call at once.
  const options = { limits: providerLimits(config), concurrency: 4 };
  expect(options.limits).toMatchObject({ 'provider/compatible': 2, 'provider/ollama': 1 });
  // Each worker has a door of its own to the providers, as two processes have.
  const handlers = () =>
    createHandlers({ database, config, provider: createModelProvider(config) });
  const status = async () =>
    (await database.asTenant(tenantId, (tx) => readSession(tx, sessionId))).status;
  await withWorker(
    database,
    handlers(),
    () =>
      withWorker(
        database,
        handlers(),
        () => expect.poll(status, { timeout: 50_000 }).toBe('completed'),
        options,
      ),
    options,
  );
  expect(server.served.length).toBe(12);
  expect(most).toBe(CONCURRENCY);
});

test('a limit that the configuration no longer names is lifted by the next worker', async () => {
  const database = await openTestStore('embedded');
  const { tenantId } = await newTenant(database);
  const draft = step('a', 'PLAN', 'all_to_one', 'a', ['seed:draft/']);
  const process = processOf('drafts', [stage('draft', [draft])]);
  await database.asTenant(tenantId, (tx) =>
    startRun(tx, {
      name: 'D',
      brief: 'B',
      process,
      models: ['offline/author'],
    }),
  );
  const limits = () =>
    database.asTenant(tenantId, (tx) =>
      tx.query('select key, max_running from concurrency_limits order by key'),
    );
  const start = (given: Record<string, number>) =>
    withWorker(database, {}, async () => {}, { limits: given, concurrency: 0 });
  await start({ 'provider/a': 2, 'provider/b': 3 });
  expect(await limits()).toEqual([
    { key: 'provider/a', max_running: 2 },
    { key: 'provider/b', max_running: 3 },
  ]);
  await start({ 'provider/a': 5 });
  expect(await limits()).toEqual([{ key: 'provider/a', max_running: 5 }]);
});
