import { expect, onTestFinished, test } from 'vitest';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { HELD_PIECES, type Pace, startScriptedServer } from './scripted-server.ts';

test('what a stalled stream had brought is saved, although nothing more comes', async () => {
  const text = JSON.stringify({ text: 'Bread, rolls and cake. '.repeat(40) });
  let isStalled = true;
  const pace: Pace = { pieceChars: 50, gapMs: 0, isHeld: () => isStalled };
  const models = await startScriptedServer(() => ({ text }), pace);
  onTestFinished(() => models.stop());
  const database = await openTestStore('embedded');
  const { tenantId } = await newTenant(database);
  const write = step('write', 'PLAN', 'all_to_one', 'draft', ['seed:draft/']);
  const process = processOf('drafts', [stage('draft', [write])]);
  const run = { name: 'Drafts', brief: 'Write.', process, models: ['compatible/m'] };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  const config = readModelsConfig({ DIALECTIC_BASE_URL: models.url });
  const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
  const saved = async () => {
    const rows = await database.asTenant(tenantId, (tx) =>
      tx.query<{ body: string }>('select body from call_pieces order by seq'),
    );
    return rows.map(({ body }) => body).join('');
  };
  await withWorker(database, handlers, async () => {
    // Too little for a piece by size, and no further delta that would look at the clock.
    await expect.poll(saved, { timeout: 30_000 }).toBe(text.slice(0, 50 * HELD_PIECES));
    expect(models.served[0]!.sent.length).toBe(HELD_PIECES);
    isStalled = false;
    const status = async () =>
      (await database.asTenant(tenantId, (tx) => readSession(tx, sessionId))).status;
    await expect.poll(status, { timeout: 30_000 }).toBe('completed');
  });
  expect(await saved()).toBe('');
}, 90_000);
