import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { openDatabase } from '../db/open.ts';
import { ensureLocalTenant } from '../db/tenants.ts';
import { requireFolder } from '../documents/owned-folder.ts';
import { readModelsConfig } from '../models/config.ts';
import { elapsedMs } from '../platform/clock.ts';
import { readRecordedRun } from '../replay/read-recorded-run.ts';
import { printResult } from './output.ts';
import { addPaceOption, carryOutReplay, readRecordingOptions } from './replay.ts';
import { describeReplay } from './replay-text.ts';
import { requireCompleted } from './run.ts';

// The same two steps up from src/cli in the repository and dist/cli in the package.
const EXAMPLE = fileURLToPath(new URL('../../examples/bakery-plan', import.meta.url));

type Options = { out?: string; pace: string; json?: boolean };

/** `dialectic demo`: replays the recorded debate that comes with the program. */
export function demoCommand(): Command {
  return addPaceOption(new Command('demo'))
    .description('replay a recorded debate of two models, with no key, network or server')
    .option('-o, --out <dir>', 'the folder to write (default: a temporary one)')
    .option('--json', 'print the result as JSON')
    .action(async (options: Options) => {
      const started = elapsedMs();
      const out = options.out ?? (await mkdtemp(join(tmpdir(), 'dialectic-demo-')));
      await requireFolder(out, null);
      const recorded = await readRecordedRun(EXAMPLE);
      const recording = readRecordingOptions(recorded, options);
      const config = { ...readModelsConfig({}), recording };
      const data = await mkdtemp(join(tmpdir(), 'dialectic-demo-data-'));
      const database = await openDatabase({ dataDirectory: data }, { backupEveryMs: 0 });
      try {
        const { tenantId } = await ensureLocalTenant(database);
        const store = { database, tenantId };
        const replay = { out, concurrency: 4, config };
        const { result, process } = await carryOutReplay(store, recorded, replay);
        const seconds = ((elapsedMs() - started) / 1000).toFixed(0);
        printResult(options.json === true, result, [
          '',
          ...describeReplay(result, process, out),
          '',
          `${seconds} s. A debate on a brief of your own, with models of your own:`,
          '  dialectic run BRIEF.md -m PROVIDER/MODEL -m PROVIDER/MODEL -o FOLDER',
        ]);
        requireCompleted(result);
      } finally {
        await database.close();
        await rm(data, { recursive: true, force: true });
      }
    });
}
