import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { findRecipe } from '../catalogue/recipe-folders.ts';
import { openDatabase } from '../db/open.ts';
import { ensureLocalTenant } from '../db/tenants.ts';
import { requireFolder } from '../documents/owned-folder.ts';
import { readModelsConfig } from '../models/config.ts';
import { OFFLINE_NOTICE } from '../models/offline/notice.ts';
import { elapsedMs } from '../platform/clock.ts';
import { readTextFolder } from '../platform/folders.ts';
import { configureProcess, RUN_DEFAULTS } from '../recipe/configure-process.ts';
import { loadProcess } from '../recipe/validate.ts';
import { startRun } from '../session/start.ts';
import { readBrief } from './brief.ts';
import { driveSession } from './drive.ts';
import { printResult, tell } from './output.ts';

const MODELS = ['offline/builder', 'offline/skeptic'];
const BRIEF = fileURLToPath(new URL('../../examples/bakery.md', import.meta.url));

/** `dialectic demo`: the whole process on an example brief, with no key, network or server. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('run the whole process on an example brief, with no key, network or server')
    .option('-o, --out <dir>', 'the folder to write (default: a temporary one)')
    .action(async (options: { out?: string }) => {
      const started = elapsedMs();
      const out = options.out ?? (await mkdtemp(join(tmpdir(), 'dialectic-demo-')));
      await requireFolder(out, null);
      const data = await mkdtemp(join(tmpdir(), 'dialectic-demo-data-'));
      const database = await openDatabase({ dataDirectory: data }, { backupEveryMs: 0 });
      try {
        const { tenantId } = await ensureLocalTenant(database);
        const { folder } = await findRecipe('software-plan');
        const { sessionId } = await startRun(database, tenantId, {
          ...(await readBrief(BRIEF)),
          process: configureProcess(loadProcess(await readTextFolder(folder)), {
            ...RUN_DEFAULTS,
            laneCount: MODELS.length,
          }),
          models: MODELS,
        });
        tell(OFFLINE_NOTICE);
        const store = { database, tenantId };
        const config = readModelsConfig({});
        const result = await driveSession(store, { sessionId, out, concurrency: 4, config });
        const seconds = ((elapsedMs() - started) / 1000).toFixed(0);
        const rendered = result.documents.filter((document) => document.path !== null);
        const lines = [
          '',
          `${result.status} in ${seconds} s: ${result.calls} calls, ${rendered.length} documents.`,
          ...(result.chosen ? [result.chosen.text] : []),
          '',
          'Open next:',
          `  ${join(out, 'project_readme.md')}`,
          ...['decide', 'build', 'Pending'].map((folder) => `  ${join(out, folder)}`),
        ];
        printResult(false, result, lines);
      } finally {
        await database.close();
        await rm(data, { recursive: true, force: true });
      }
    });
}
