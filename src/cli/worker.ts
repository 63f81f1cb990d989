import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import type { TraceEvent } from '../api/trace-to.ts';
import type { WorkerEvent } from '../api/work-on-all.ts';
import { codeOf, messageOf } from '../errors/errors.ts';
import { printResult, tell } from './output.ts';
import { readConcurrency } from './run.ts';
import { showRun } from './screen/show-run.ts';
import { withModels } from './store.ts';
import { describeTrace, TRACE_HELP } from './trace-text.ts';
import { describeFolderNews, describeJob } from './worker-text.ts';

type WorkerOptions = { data?: string; concurrency: string; trace?: string; json?: boolean };

/** `dialectic worker`: works on every session of the store until it is told to stop. */
export function workerCommand(): Command {
  return new Command('worker')
    .description('work on all sessions of a store; any number may run on one DATABASE_URL')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('-c, --concurrency <n>', 'jobs at a time', '10')
    .option('--trace <file>', TRACE_HELP)
    .option('--json', 'print the result as JSON')
    .action(async (options: WorkerOptions) => {
      const concurrency = readConcurrency(options.concurrency);
      await withModels(options.data, async (dialectic) => {
        const stop = new AbortController();
        const onSignal = (): void => stop.abort();
        process.once('SIGTERM', onSignal).once('SIGINT', onSignal);
        tell('A worker is running. Stop it with Ctrl-C or SIGTERM.');
        tell('It keeps the folders of the sessions up to date that lie on this machine.');
        const { signal } = stop;
        const { trace } = options;
        const show = process.stderr.isTTY
          ? showScreens(dialectic, signal)
          : tellJobs(dialectic, tell);
        for await (const event of dialectic.workOnAll({ concurrency, signal, trace })) {
          if (event.kind !== 'trace-written') await show(event);
          else for (const line of describeTrace(event)) tell(line);
        }
        printResult(options.json === true, { stopped: true }, [
          'Stopped; unfinished jobs were handed back.',
        ]);
      });
    });
}

type Show = (event: Exclude<WorkerEvent, TraceEvent>) => Promise<void>;

/** A line for each document that was written, and for each job that failed. */
function tellJobs(dialectic: Dialectic, write: (line: string) => void): Show {
  const sessions = new Map<string, ReturnType<Dialectic['session']>>();
  return async (event) => {
    if (event.kind === 'store-away') return write(event.message);
    if (event.kind === 'store-back') return write('The store is back; the worker goes on.');
    if (event.kind !== 'job-ended') return write(describeFolderNews(event));
    const { session: id } = event;
    const reading = sessions.get(id) ?? dialectic.session(id);
    sessions.set(id, reading);
    const session = await reading.catch((thrown: unknown) => {
      sessions.delete(id);
      if (codeOf(thrown) !== 'not_found') throw thrown;
      return null; // erased since
    });
    if (session) for (const line of describeJob(event, session)) write(line);
  };
}

/** The screen of one session at a time: of the next that a job was done for, when one rests. */
function showScreens(dialectic: Dialectic, signal: AbortSignal): Show {
  let shown: Promise<unknown> | undefined;
  return async (event) => {
    if (event.kind === 'folder-not-written') tell(describeFolderNews(event));
    if (shown || event.kind !== 'job-ended') return;
    const { session } = event;
    shown = showRun(dialectic, session, dialectic.watch(session, { signal }))
      .catch((thrown: unknown) => tell(`Cannot show session ${session}: ${messageOf(thrown)}`))
      .finally(() => {
        shown = undefined;
      });
  };
}
