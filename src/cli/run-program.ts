import { type Command, CommanderError } from 'commander';
import { DialecticError } from '../errors/errors.ts';
import { exitWith } from './exit-with.ts';
import { commandLineOf, exampleOf } from './help-text.ts';
import { reportFailure, tell } from './output.ts';
import { createProgram } from './program.ts';

/**
 * Carries out one command and sets the process's exit code. Each call builds the commands anew,
 * since they keep the options that they have parsed.
 */
export async function runProgram(parameters: readonly string[]): Promise<void> {
  const program = await createProgram(parameters);
  throwFailures(program);
  if (parameters.length === 0) return program.outputHelp();
  try {
    await program.parseAsync(parameters, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) exitWith(error.exitCode === 0 ? 0 : 2);
    else reportFailure(error, parameters.includes('--json'));
  }
}

/**
 * Commander would print usage errors and end the process by itself; here they are failures like all
 * others. A command does not hand this setting to its verbs.
 */
function throwFailures(command: Command): void {
  command
    .exitOverride((error) => {
      throw isHelp(error) ? error : usageError(command, error.message);
    })
    .configureOutput({ writeErr: (text) => tell(text.trimEnd()), outputError: () => {} });
  for (const verb of command.commands) throwFailures(verb);
}

/** Help or the version was printed: on request, or because a verb is missing. */
const isHelp = ({ code }: CommanderError): boolean =>
  ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);

/** What is wrong, with a line that would be right where something is missing. */
function usageError(command: Command, text: string): DialecticError {
  const line = commandLineOf(command);
  const [what = '', ...hints] = text.replace(/^error: /, '').split('\n');
  const said = `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\.$/, '')}.`;
  const example = exampleOf(command);
  const shown = example === undefined ? '' : `\n  For example: ${example}`;
  return new DialecticError('usage_invalid', `${[said, ...hints].join(' ')}${shown}`, {
    action: `\`${line} --help\` lists what it takes.`,
    details: { command: line },
  });
}
