import { Command } from 'commander';
import type { Database } from '../db/database.ts';
import { cancelRun, pauseRun } from '../session/stop.ts';
import { printResult } from './output.ts';
import { findSession } from './sessions.ts';
import { withStore } from './store.ts';

/** `dialectic pause`: nothing new of a session starts; calls in flight finish and are saved. */
export function pauseCommand(): Command {
  return stopCommand(
    'pause',
    'let calls in flight finish and start nothing new',
    pauseRun,
    (id) => [`Paused. Go on with: dialectic resume ${id}`],
  );
}

/** `dialectic cancel`: ends a session for good and aborts its calls. */
export function cancelCommand(): Command {
  return stopCommand('cancel', 'end a session for good and abort its calls', cancelRun, (id) => [
    `Cancelled. What was written is kept: dialectic export ${id} -o DIR`,
  ]);
}

function stopCommand(
  verb: string,
  description: string,
  stop: (database: Database, tenantId: string, sessionId: string) => Promise<void>,
  describe: (sessionId: string) => string[],
): Command {
  return new Command(verb)
    .description(description)
    .argument('<session>', 'its id or the end of it')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action((wanted: string, options: { data?: string; json?: boolean }) =>
      withStore(options.data, async (store) => {
        const { id } = await findSession(store, wanted);
        await stop(store.database, store.tenantId, id);
        const { status, gates } = await findSession(store, id);
        printResult(options.json === true, { session: id, status, gates }, describe(id));
      }),
    );
}
