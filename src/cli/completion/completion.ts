import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { locateStore } from '../../db/open.ts';
import { DialecticError } from '../../errors/errors.ts';
import { isId } from '../../platform/ids.ts';
import { readOwnConfiguration } from '../configuration.ts';
import { withExample } from '../help-text.ts';
import { printExactly, printResult } from '../output.ts';
import { withDialectic } from '../store.ts';
import { describeCommands } from './describe-commands.ts';
import { SHELLS, type Shell, writeScript } from './scripts.ts';
import { readWords } from './words.ts';

type Options = { readonly sessions?: boolean; readonly json?: boolean };

/** `dialectic completion`: a script that completes commands, options and values in a shell. */
export function completionCommand(): Command {
  const command = new Command('completion')
    .description('print the completion script of a shell')
    .usage('[options] <shell>')
    .addArgument(new Argument('[shell]', 'the shell').choices(SHELLS))
    .addOption(new Option('--sessions', 'print the ids of the sessions').hideHelp())
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP)
    .action(complete);
  return withExample(command, 'dialectic completion bash');
}

const HELP = `
In ~/.bashrc:  eval "$(dialectic completion bash)"
In ~/.zshrc:   eval "$(dialectic completion zsh)"       (behind compinit)
For fish:      dialectic completion fish > ~/.config/fish/completions/dialectic.fish`;

async function complete(shell: Shell | undefined, options: Options): Promise<void> {
  const isJson = options.json === true;
  if (options.sessions) {
    const sessions = await listSessions();
    return printResult(isJson, { sessions }, sessions);
  }
  if (shell === undefined) {
    throw new DialecticError('usage_invalid', `Name a shell: ${SHELLS.join(', ')}.`);
  }
  const { createProgram } = await import('../program.ts'); // this command line loaded one verb alone
  const entries = describeCommands(await createProgram());
  const script = writeScript(shell, entries, await readWords(readOwnConfiguration()));
  printExactly(isJson, { shell, script }, [script.trimEnd()]);
}

/**
 * The newest sessions by id; a store that does not exist yet is not made for a press of Tab. The tables
 * of a store that was received can be views with other texts as ids, which a shell would act on.
 */
async function listSessions(): Promise<string[]> {
  const location = locateStore(process.env);
  if ('dataDirectory' in location && !existsSync(join(location.dataDirectory, 'pgdata'))) return [];
  const sessions = await withDialectic(undefined, (dialectic) => dialectic.list({ all: true }));
  return sessions.map(({ id }) => id).filter(isId);
}
