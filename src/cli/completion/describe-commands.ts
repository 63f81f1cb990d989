import type { Argument, Command, Option } from 'commander';

/** What a shell offers for an option's value or an argument. */
export type Offer =
  | 'directories'
  | 'domains'
  | 'files'
  | 'models'
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
  recipe: 'recipes',
  session: 'sessions',
  stage: 'stages',
};

/** The commands below one, itself first, each with what it takes. */
export function describeCommands(command: Command, parent = ''): CommandEntry[] {
  const path = `${parent} ${command.name()}`.trim();
  const own: CommandEntry = {
    path,
    commands: command.commands.map((verb) => ({
      name: verb.name(),
      description: verb.description(),
    })),
    options: [...command.options.filter(({ hidden }) => !hidden).map(describeOption), HELP],
    arguments: command.registeredArguments.map(offerOf),
    isRepeated: command.registeredArguments.at(-1)?.variadic ?? false,
  };
  return [own, ...command.commands.flatMap((verb) => describeCommands(verb, path))];
}

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
