import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import { withExample } from './help-text.ts';
import { describeNext } from './next-step.ts';
import { printResult } from './output.ts';
import { withDialectic } from './store.ts';

const PAUSED = 'Nothing new starts; calls under way finish and are saved.';
const CANCELLED = 'Calls under way are cut off; what was written is kept.';

/** `dialectic pause`: nothing new of a session starts; calls in flight finish and are saved. */
export function pauseCommand(): Command {
  const description = 'let calls in flight finish and start nothing new';
  return stopCommand('pause', description, `Paused. ${PAUSED}`);
}

/** `dialectic cancel`: ends a session for good and aborts its calls. */
export function cancelCommand(): Command {
  const description = 'end a session for good and abort its calls';
  return stopCommand('cancel', description, `Cancelled. ${CANCELLED}`);
}

function stopCommand(verb: 'pause' | 'cancel', description: string, done: string): Command {
  const command = new Command(verb)
    .description(description)
    .argument('<session>', 'its id or the end of it')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action((wanted: string, options: { data?: string; json?: boolean }) =>
      withDialectic(options.data, async (dialectic: Dialectic) => {
        const { id } = await dialectic.find(wanted);
        const { status, gates } = await dialectic[verb](id);
        const result = await dialectic.updateFolder(id);
        const { folder, folderProblem, changedFiles } = result;
        const value = { session: id, status, gates, folder, folderProblem, changedFiles };
        printResult(options.json === true, value, [done, ...describeNext(result)]);
      }),
    );
  return withExample(command, `dialectic ${verb} 1a2b3c4d`);
}
