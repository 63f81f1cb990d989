import { Command } from 'commander';
import { type LoadedRecipe, loadRecipe } from '../catalogue/load-recipe.ts';
import { DialecticError } from '../errors/errors.ts';
import { writeTextFolder } from '../platform/folders.ts';
import { forkFiles, withEditorSchemas } from '../recipe/fork-files.ts';
import { quoteWord } from '../text/quote-word.ts';
import { withExample } from './help-text.ts';
import { collect } from './new-run.ts';
import { printResult } from './output.ts';
import { BASE_FOLDER } from './recipe-diff.ts';

type Options = {
  readonly stage: readonly string[];
  readonly out: string;
  readonly json?: boolean;
};

const EXAMPLE = 'dialectic recipe fork decision-memo --stage propose --out my-memo';

const HELP = `
A process is run from one folder, so the whole process is copied. Only the stages of --stage become
forks: they and their steps note the version they came from. The others keep their version, and
sessions go on sharing it. A stage on its own needs no --stage.
Edit the files, then: dialectic recipe validate FOLDER, dialectic recipe diff FOLDER.`;

/** `dialectic recipe fork`: writes an editable copy of a recipe. */
export function forkCommand(recipeHelp: string): Command {
  const command = new Command('fork')
    .description('write an editable copy in which the named stages note their origin')
    .usage('--stage <key> --out <folder> [options] <recipe>')
    .argument('<recipe>', recipeHelp)
    .option(
      '--stage <key>',
      'a stage that you are going to change; repeat for more (required for a process)',
      collect,
      [],
    )
    .requiredOption('--out <folder>', 'a folder that is empty or does not exist yet')
    .addHelpText('after', HELP)
    .action(fork);
  return withExample(command, EXAMPLE);
}

async function fork(name: string, options: Options): Promise<void> {
  const recipe = await loadRecipe(name);
  const stages = recipe.kind === 'stage' ? [recipe.process.key] : options.stage;
  if (stages.length === 0) {
    const keys = recipe.process.stages.map((stage) => stage.key);
    const message =
      `Required option '--stage <key>' not specified: name the stages that you are going to ` +
      `change, of ${keys.join(', ')}.\n` +
      `  For example: dialectic recipe fork ${quoteWord(name)} --stage ${quoteWord(keys[0]!)} --out ${quoteWord(options.out)}`;
    throw new DialecticError('usage_invalid', message);
  }
  const files = withEditorSchemas(forkFiles(recipe.files, recipe.process, stages));
  await writeTextFolder(options.out, withBase(recipe, files));
  const result = { folder: options.out, stages, files: [...files.keys()] };
  printResult(options.json === true, result, [
    `Wrote ${recipe.name} to ${options.out}; ${stages.join(', ')} can be changed.`,
    `Check it: dialectic recipe validate ${quoteWord(options.out)}`,
  ]);
}

/** The files of a copy with those of its origin beside them, which `merge` needs later. */
export const withBase = (
  { files: origin }: LoadedRecipe,
  files: ReadonlyMap<string, string>,
): Map<string, string> =>
  new Map([
    ...files,
    ...[...origin].map(([path, text]) => [`${BASE_FOLDER}/${path}`, text] as const),
  ]);
