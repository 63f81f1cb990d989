import { expect, test } from 'vitest';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { watchTexts } from '../watch-texts.ts';
import { startScriptedServer } from './scripted-server.ts';

describeOnBoth('a call', (kind) => {
  test('begins in one round trip and ends in one', async () => {
    const text = JSON.stringify({ text: 'Bread, rolls and cake.' });
    const models = await startScriptedServer(() => ({ text }));
    const database = await openTestStore(kind);
    const { tenantId } = await newTenant(database);
    const write = step('write', 'PLAN', 'all_to_one', 'draft', ['seed:draft/']);
    const process = processOf('drafts', [stage('draft', [write])]);
    const run = { name: 'Drafts', brief: 'Write.', process, models: ['compatible/m'] };
    const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
    const config = readModelsConfig({ DIALECTIC_BASE_URL: models.url });
    const handlers = createHandlers({ database, config, provider: createModelProvider(config) });
    const sent = await watchTexts(database);
    await withWorker(database, handlers, async () => {
      const status = async () =>
        (await database.asTenant(tenantId, (tx) => readSession(tx, sessionId))).status;
      await expect.poll(status, { timeout: 30_000 }).toBe('completed');
    });
    await models.stop();
    const texts = sent();
    const having = (part: string): string[] => texts.filter((one) => one.includes(part));
    expect(having('execute "batch_require-funds"')).toEqual([
      expect.stringMatching(/^begin;.*require-lease.*begin-call.*note-request.*commit$/s),
    ]);
    for (const piece of having('save-piece')) expect(piece).toMatch(/^begin;.*commit$/s);
    expect(having('execute "batch_post-calls"')).toEqual([
      expect.stringMatching(
        /^begin;.*hold-leases.*save-documents.*post-calls.*complete-jobs.*commit$/s,
      ),
    ]);
  });
});
