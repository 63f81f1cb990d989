import { Command } from 'commander';
import { loadFolder, loadFrom, loadRecipe } from '../catalogue/load-recipe.ts';
import { listShippedRecipes } from '../catalogue/recipe-folders.ts';
import { DialecticError } from '../errors/errors.ts';
import { expectedCounts } from '../planning/expected-counts.ts';
import { configureProcess, RUN_DEFAULTS } from '../recipe/configure-process.ts';
import { toMermaid } from '../recipe/graph.ts';
import type { Process } from '../recipe/types.ts';
import { validateProcess } from '../recipe/validate.ts';
import { hashStage } from '../recipe/version.ts';
import { quoteWord } from '../text/quote-word.ts';
import { exitWith } from './exit-with.ts';
import { withExample } from './help-text.ts';
import { printExactly, printResult } from './output.ts';
import { compareWithOrigin } from './recipe-diff.ts';
import { forkCommand } from './recipe-fork.ts';
import { insertCommand } from './recipe-insert.ts';
import { mergeCommand } from './recipe-merge.ts';
import { countParts, describeRecipe, formatChange, formatIssue, summarise } from './recipe-text.ts';
import { checkFolder } from './recipe-validate.ts';

type Options = { readonly json?: boolean };

const FOLDER = 'folder with process.yaml or stage.yaml';
const RECIPE = 'name of a shipped recipe, or a folder (./NAME where both exist)';

/** `dialectic recipe`: looks at recipes, checks them and makes editable copies. */
export function recipeCommand(): Command {
  const recipe = new Command('recipe').description(
    'list, show, check, copy, change and draw recipes',
  );
  addReaders(recipe);
  recipe
    .command('validate')
    .description('report every defect with file, line and field; leaves with 2 if there is one')
    .argument('[folder]', FOLDER, '.')
    .action(validate);
  recipe.addCommand(forkCommand(RECIPE));
  recipe
    .command('diff')
    .description('compare a folder with the recipe that it was copied from')
    .argument('[folder]', FOLDER, '.')
    .argument('[recipe]', `what to compare with (default: its origin): ${RECIPE}`)
    .action(diff);
  recipe.addCommand(insertCommand()).addCommand(mergeCommand());
  for (const command of recipe.commands) {
    command.option('--json', 'print the result as JSON');
  }
  return recipe;
}

function addReaders(recipe: Command): void {
  recipe.command('list').description('name the shipped recipes').action(list);
  const showing = recipe
    .command('show')
    .description('show stages, steps, what they read and make, and the calls of a run')
    .argument('<recipe>', RECIPE)
    .action(show);
  const drawing = recipe
    .command('graph')
    .description('print the recipe as a Mermaid graph')
    .argument('<recipe>', RECIPE)
    .action(graph);
  withExample(showing, 'dialectic recipe show decision-memo');
  withExample(drawing, 'dialectic recipe graph decision-memo');
}

async function list(options: Options): Promise<void> {
  const recipes = await Promise.all((await listShippedRecipes()).map(loadFrom));
  const rows = recipes.map(({ name, kind, folder, version, process }) => ({
    name,
    kind,
    title: process.name,
    description: process.description,
    stages: process.stages.map((stage) => stage.key),
    version,
    folder,
  }));
  printResult(options.json === true, { recipes: rows }, recipes.flatMap(summarise));
}

async function show(name: string, options: Options): Promise<void> {
  const recipe = await loadRecipe(name);
  const { kind, folder, version, process } = recipe;
  const calls = countCalls(process);
  const stages = process.stages.map((stage) => ({ key: stage.key, version: hashStage(stage) }));
  const result = { name: recipe.name, kind, folder, version, stages, calls, process };
  printResult(options.json === true, result, describeRecipe(recipe, calls));
}

/** Model calls with one, two and three participants; null for a recipe that cannot run. */
function countCalls(process: Process): number[] | null {
  if (validateProcess(process).length > 0) return null;
  try {
    return [1, 2, 3].map((laneCount) => {
      const configured = configureProcess(process, { ...RUN_DEFAULTS, laneCount });
      return expectedCounts(configured, laneCount).calls;
    });
  } catch (thrown) {
    if (thrown instanceof DialecticError) return null;
    throw thrown;
  }
}

async function validate(folder: string, options: Options): Promise<void> {
  const { kind, issues, process: valid } = await checkFolder(folder);
  const lines =
    valid === null
      ? issues.map((issue) => formatIssue(folder, issue))
      : [`${folder}: no defects; ${valid.key}, ${countParts({ kind, process: valid })}`];
  printResult(options.json === true, { ok: valid !== null, folder, issues }, lines);
  if (valid === null) exitWith(2);
}

async function diff(folder: string, other: string | undefined, options: Options): Promise<void> {
  const comparison = await compareWithOrigin(await loadFolder(folder), other);
  const { origin, changes, outdated } = comparison;
  printResult(options.json === true, comparison, [
    ...(changes.length === 0 ? [`${folder} does what ${origin.name} does.`] : []),
    ...changes.flatMap(formatChange),
    ...outdated.map((key) => `note: ${origin.name} has a newer ${key} than the one copied.`),
    ...(outdated.length > 0
      ? [`Take it in with: dialectic recipe merge ${quoteWord(folder)}`]
      : []),
  ]);
}

async function graph(name: string, options: Options): Promise<void> {
  const mermaid = toMermaid((await loadRecipe(name)).process);
  printExactly(options.json === true, { mermaid }, [mermaid.trimEnd()]);
}
