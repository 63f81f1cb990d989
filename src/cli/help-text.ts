import type { Argument, Command, Option } from 'commander';

const EXAMPLES = new WeakMap<Command, string>();

/** Gives a command a line that works as it stands, for its help and for errors of usage. */
export function withExample(command: Command, line: string): Command {
  EXAMPLES.set(command, line);
  return command.addHelpText('after', `\nExample:\n  ${line}`);
}

/** The example of a command; undefined where nothing has to be given to it. */
export const exampleOf = (command: Command): string | undefined => EXAMPLES.get(command);

/** `dialectic recipe show` */
export const commandLineOf = (command: Command): string =>
  command.parent === null ? command.name() : `${commandLineOf(command.parent)} ${command.name()}`;

/** Lets a command and those below it tell the same way what has to be given and what may be. */
export function shareHelp(command: Command): void {
  command.configureHelp({
    minWidthToWrap: 20,
    // The arguments alone, so that descriptions have room in a narrow window.
    subcommandTerm: (verb) =>
      `${verb.name()} ${usageOf(verb).replace(/^.*\[options\] ?/, '')}`.trim(),
    commandUsage: (one) => `${commandLineOf(one)} ${usageOf(one)}`.trim(),
    optionDescription: (option) => describe(option, option.mandatory),
    argumentDescription: (argument) => describe(argument, argument.required),
  });
  for (const verb of command.commands) shareHelp(verb);
}

/** What follows the name of a command: options that it cannot do without stand in it by name. */
function usageOf(command: Command): string {
  const usage = command.usage();
  const required = command.options
    .filter(({ mandatory, long }) => mandatory && !usage.includes(long!))
    .map(({ flags }) => flags.replace(/^-\w, /, ''));
  return [...required, usage].join(' ');
}

const REQUIRED = ' (required)';

/** What the help says of an option or argument beside its name. */
function describe(one: Argument | Option, isRequired: boolean): string {
  const { description, defaultValue, argChoices } = one;
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(isTold(defaultValue) ? [`default: ${String(defaultValue)}`] : []),
  ];
  const told = notes.length > 0 ? ` (${notes.join('; ')})` : '';
  return `${description}${told}${isRequired ? REQUIRED : ''}`;
}

/** An empty list, and a switch that is off, say nothing to a person. */
const isTold = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';
