import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import { openDialectic } from '../api/open-dialectic.ts';
import { elapsedMs } from '../platform/clock.ts';
import { printResult, tell } from './output.ts';
import { addPaceOption, carryOutReplay, readPaceOption } from './replay.ts';
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
      const pace = readPaceOption(options.pace);
      const out = options.out ?? (await mkdtemp(join(tmpdir(), 'dialectic-demo-')));
      const { result, process } = await inTemporaryStore((dialectic) =>
        carryOutReplay(dialectic, { recorded: EXAMPLE, pace, out, concurrency: 4 }),
      );
      const seconds = ((elapsedMs() - started) / 1000).toFixed(0);
      printResult(options.json === true, result, [
        '',
        ...describeReplay(result, process, out),
        '',
        `${seconds} s. A debate on a brief of your own, with models of your own:`,
        `  ${nameCommand()} run BRIEF.md -m PROVIDER/MODEL -m PROVIDER/MODEL -o FOLDER`,
      ]);
      requireCompleted(result);
    });
}

/** In a clone nothing is installed: npm runs the demonstration there, and the command as well. */
const nameCommand = (): string =>
  process.env['npm_lifecycle_event'] === 'demo' ? 'npm run dialectic --' : 'dialectic';

/** Neither the user's store nor the configuration of the current folder takes part. */
async function inTemporaryStore<T>(work: (dialectic: Dialectic) => Promise<T>): Promise<T> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'dialectic-demo-data-'));
  try {
    const options = { dataDirectory, environment: {}, backupEveryMs: 0, log: tell };
    await using dialectic = await openDialectic(options);
    return await work(dialectic);
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}
