import { Command } from 'commander';
import { describeEstimate } from './estimate-text.ts';
import {
  addScopeOptions,
  collect,
  type NewRunOptions,
  PROCESS_HELP,
  prepareRun,
  SOURCE_HELP,
} from './new-run.ts';
import { printResult } from './output.ts';
import { nameParticipants } from './participants.ts';
import { withModels } from './store.ts';

/** `dialectic estimate`: what a run would take, before anything is paid. */
export function estimateCommand(): Command {
  return addScopeOptions(new Command('estimate'))
    .description('tell what a run would take: calls, tokens, money')
    .argument('[brief]', "a text file, - for standard input, or the words (default: the project's)")
    .option('-m, --model <id>', 'a participant, provider/model; repeat for more', collect, [])
    .option('-p, --process <name>', PROCESS_HELP)
    .option('--until <stage>', 'stop after this stage')
    .option('-r, --resource <kind=file>', 'material beside the brief; repeat', collect, [])
    .option('-s, --source <place>', SOURCE_HELP, collect, [])
    .option('--writer <model>', 'the participant that alone goes on where the process allows it')
    .option('--domain <name>', "one of the process's domains")
    .option('--project <name>', 'the project that would hold the session')
    .option('--overlay <file>', 'role, standards and style of the session, as YAML')
    .option('--project-overlay <file>', 'the same for a new project')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action(estimate);
}

type EstimateOptions = NewRunOptions & { data?: string; json?: boolean };

async function estimate(
  briefPath: string | undefined,
  options: EstimateOptions,
  command: Command,
): Promise<void> {
  // Nothing is spent: whoever was found is taken, and named.
  const run = await nameParticipants(await prepareRun(briefPath, options), command, 'given');
  await withModels(options.data, async (dialectic) => {
    const result = await dialectic.estimate(run);
    printResult(options.json === true, result, describeEstimate(result));
  });
}
