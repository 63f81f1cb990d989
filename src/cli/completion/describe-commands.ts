import type { Argument, Command, Option } from 'commander';

/** What a shell offers for an option's value or an argument. */
export type Offer =
  | 'directories'
  | 'domains'
  | 'files'
  | 'models'
  | 'providers'
  | 'recipes'
  | 'sessions'
  | 'stages'
  | { readonly words: readonly string[] }
  | null;

type OfferedOption = {
  /** `-m` and `--model` */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly offer: Offer;
};

/** A command, or a group of them, as completion sees it. */
export type CommandEntry = {
  /** `dialectic recipe show` */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OfferedOption[];
  /** By position; the last one stands for all that follow where `isRepeated`. */
  readonly arguments: readonly Offer[];
  readonly isRepeated: boolean;
};

/** Offers for options whose placeholder does not tell what they take. */
const BY_FLAG: Readonly<Record<string, Offer>> = {
  '--approve': 'stages',
  '--debate': 'models',
  '--depth': { words: ['brief', 'standard', 'full'] },
  '--domain': 'domains',
  '--fill': { words: ['offline'] },
  '--judge': 'models',
  '--model': 'models',
  '--process': 'recipes',
  '--recipe': 'recipes',
  '--session': 'sessions',
  '--stage': 'stages',
};

/** Offers by the name between the brackets: `<dir>`, `[session]`. */
const BY_NAME: Readonly<Record<string, Offer>> = {
  brief: 'files',
  dir: 'directories',
  file: 'files',
  folder: 'directories',
  model: 'models',
  place: 'files',
  provider: 'providers',
  recipe: 'recipes',
  session: 'sessions',
  'session or document': 'sessions',
  stage: 'stages',
};

/** Offers for arguments whose name means something else in this command. */
const BY_PLACE: Readonly<Record<string, Offer>> = {
  'dialectic recipe insert folder': 'recipes',
  'dialectic recipe insert stage': 'recipes',
};

/** The commands below one, itself first, each with what it takes. */
export function describeCommands(command: Command, parent = ''): CommandEntry[] {
  const path = `${parent} ${command.name()}`.trim();
  const verbs = command.commands.map((verb) => ({
    name: verb.name(),
    description: verb.description(),
  }));
  const own: CommandEntry = {
    path,
    commands: [...verbs, ...(verbs.length > 0 ? [HELP_VERB] : [])],
    options: [...command.options.filter(({ hidden }) => !hidden).map(describeOption), HELP],
    arguments: command.registeredArguments.map(
      (argument) => BY_PLACE[`${path} ${argument.name()}`] ?? offerOf(argument),
    ),
    isRepeated: command.registeredArguments.at(-1)?.variadic ?? false,
  };
  const help = { path: `${path} help`, commands: [], options: [], isRepeated: false };
  return [
    own,
    ...command.commands.flatMap((verb) => describeCommands(verb, path)),
    ...(verbs.length > 0
      ? [{ ...help, arguments: [{ words: verbs.map(({ name }) => name) }] }]
      : []),
  ];
}

/** Commander adds it to every command that has others below it. */
const HELP_VERB = { name: 'help', description: 'display help for command' };

/** Commander adds it when it parses. */
const HELP: OfferedOption = {
  flags: ['-h', '--help'],
  description: 'display help for command',
  takesValue: false,
  offer: null,
};

function describeOption(option: Option): OfferedOption {
  const { short, long, description, required, optional, flags } = option;
  const name = /[<[]([^>\]]+)/.exec(flags)?.[1] ?? '';
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    takesValue: required || optional,
    offer: chosenFrom(option) ?? BY_FLAG[long ?? ''] ?? BY_NAME[name] ?? null,
  };
}

const offerOf = (argument: Argument): Offer =>
  chosenFrom(argument) ?? BY_NAME[argument.name()] ?? null;

const chosenFrom = ({ argChoices }: Pick<Option, 'argChoices'>): Offer =>
  argChoices === undefined ? null : { words: argChoices };
