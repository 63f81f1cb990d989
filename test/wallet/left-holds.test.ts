import { expect, test } from 'vitest';
import { describeReport } from '../../src/cli/wallet-text.ts';
import { type Dialectic, openDialectic } from '../../src/index.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { startScript } from '../chaos/processes.ts';
import { startScriptedServer } from '../generation/scripted-server.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { describeOnBoth, emptyStore, temporaryFolder } from '../stores.ts';

const TEXT = JSON.stringify({ text: 'One sentence after another. '.repeat(20) });
const drafts = processOf('drafts', [
  stage('draft', [step('first', 'PLAN', 'all_to_one', 'first', ['seed:draft/'])]),
]);

describeOnBoth('a call whose worker was killed', (kind) => {
  test('is not told to be under way, and its hold is named with what ends it', async () => {
    const pace = { pieceChars: 50, gapMs: 0, isHeld: () => true };
    const server = await startScriptedServer(() => ({ text: TEXT }), pace);
    const recipe = await temporaryFolder();
    await writeTextFolder(recipe, processToFiles(drafts));
    const place = await emptyStore(kind);
    const environment = { DIALECTIC_BASE_URL: server.url };
    const open = (): Promise<Dialectic> =>
      openDialectic({ ...place, environment, backupEveryMs: 0 });
    const first = await open();
    const models = ['compatible/scripted'];
    const { session } = await first.start({ brief: 'Write.', models, process: recipe });
    await first.close();
    const settings = { place, baseUrl: server.url, sessionId: session, concurrency: 1 };
    const worker = startScript('../generation/stream-worker.ts', JSON.stringify(settings));
    await expect.poll(() => server.served.length, { timeout: 60_000 }).toBe(1);
    // An embedded store is held by the worker's process, and this program has no socket.
    if (kind === 'server') {
      const beside = await open();
      expect(describeReport(await beside.costs(session)).join('\n')).toContain(
        'Under way, with their worst case held: 1 call.',
      );
      await beside.close();
    }
    worker.child.kill('SIGKILL');
    await worker.ended;
    const after = await open();
    const told = async (): Promise<string> => describeReport(await after.costs(session)).join('\n');
    await expect
      .poll(told)
      .toContain(
        `Left by a worker that is gone, with their worst case held: 1 call. ` +
          `To settle it: dialectic resume ${session}`,
      );
    expect(await told()).not.toContain('Under way');
    await after.close();
    await server.stop();
  }, 60_000);
});
