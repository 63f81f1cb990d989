import { Command } from 'commander';
import { printResult, tell } from './output.ts';
import { readConcurrency } from './run.ts';
import { withModels } from './store.ts';

type WorkerOptions = { data?: string; concurrency: string; json?: boolean };

/** `dialectic worker`: works on every session of the store until it is told to stop. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('work on all sessions of a store; any number may run on one DATABASE_URL')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('-c, --concurrency <n>', 'jobs at a time', '10')
    .option('--json', 'print the result as JSON')
    .action(async (options: WorkerOptions) => {
      const concurrency = readConcurrency(options.concurrency);
      await withModels(options.data, async (dialectic) => {
        const stop = new AbortController();
        const onSignal = (): void => stop.abort();
        process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
        tell('A worker is running. Stop it with Ctrl-C or SIGTERM.');
        await dialectic.workOnAll({ concurrency, signal: stop.signal });
        printResult(options.json === true, { stopped: true }, [
          'Stopped; unfinished jobs were handed back.',
        ]);
      });
    });
}
