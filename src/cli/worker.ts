import { Command } from 'commander';
import { createHandlers } from '../handlers/create-handlers.ts';
import { providerLimits } from '../handlers/provider-limits.ts';
import { Worker } from '../jobs/worker.ts';
import { createModelProvider } from '../models/provider.ts';
import { readConfiguration, readJobConfiguration } from './configuration.ts';
import { readConcurrency } from './run.ts';
import { withStore } from './store.ts';

type WorkerOptions = { data?: string; concurrency: string };

/** `dialectic worker`: works on every session of the store until it is told to stop. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('work on all sessions of a store; any number may run on one DATABASE_URL')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('-c, --concurrency <n>', 'jobs at a time', '10')
    .action(async (options: WorkerOptions) => {
      const concurrency = readConcurrency(options.concurrency);
      const config = readConfiguration();
      const settings = readJobConfiguration();
      await withStore(options.data, async ({ database }) => {
        const provider = createModelProvider(config);
        const handlers = createHandlers({ database, provider, config });
        const limits = providerLimits(config);
        const worker = new Worker({ database, handlers, concurrency, settings, limits });
        await worker.start();
        process.stderr.write(`Worker ${worker.id} is running. Stop it with Ctrl-C or SIGTERM.\n`);
        await new Promise<void>((resolve) => {
          process.once('SIGTERM', () => resolve());
          process.once('SIGINT', () => resolve());
        });
        await worker.stop();
        process.stderr.write('Stopped; unfinished jobs were handed back.\n');
      });
    });
}
