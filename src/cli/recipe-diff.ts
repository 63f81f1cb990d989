import { type LoadedRecipe, loadRecipe } from '../catalogue/load-recipe.ts';
import { listShippedRecipes } from '../catalogue/recipe-folders.ts';
import { DialecticError } from '../errors/errors.ts';
import { diffProcesses, diffStages, type RecipeChange } from '../recipe/diff.ts';
import type { Stage } from '../recipe/types.ts';
import { hashStage } from '../recipe/version.ts';

export type RecipeComparison = {
  readonly origin: { readonly name: string; readonly folder: string; readonly version: string };
  readonly changes: readonly RecipeChange[];
  /** Stages whose origin has changed since they were copied; the comparison is with today's. */
  readonly outdated: readonly string[];
};

/** Compares a recipe with the named one, or with the one that it was copied from. */
export async function compareWithOrigin(
  recipe: LoadedRecipe,
  named: string | undefined,
): Promise<RecipeComparison> {
  const origin = await loadRecipe(named ?? (await nameOfOrigin(recipe)));
  const { name, folder, version } = origin;
  const outdated = recipe.process.stages
    .filter((stage) => stage.origin !== null && stage.origin.process === origin.process.key)
    .filter((stage) => {
      const source = findStage(origin, stage.origin?.stage ?? '');
      return source !== undefined && hashStage(source) !== stage.origin?.version;
    });
  return {
    origin: { name, folder, version },
    changes: [...compare(origin, recipe), ...(await compareInserted(origin, recipe))],
    outdated: outdated.map((stage) => stage.key),
  };
}

const findStage = (recipe: LoadedRecipe, key: string): Stage | undefined =>
  recipe.process.stages.find((stage) => stage.key === key);

/** What was changed in stages that came from other recipes, each beside its own origin. */
async function compareInserted(origin: LoadedRecipe, recipe: LoadedRecipe) {
  const shipped = await listShippedRecipes();
  const changes: RecipeChange[] = [];
  for (const stage of recipe.kind === 'process' ? recipe.process.stages : []) {
    const from = stage.origin?.process;
    if (from === undefined || from === origin.process.key) continue;
    if (!shipped.some(({ name }) => name === from)) continue;
    const source = findStage(await loadRecipe(from), stage.origin?.stage ?? '');
    if (source) changes.push(...diffStages(source, stage));
  }
  return changes;
}

/**
 * The recipe that a folder was copied from: the shipped one of its key, or the one that its stages
 * note. A stage that was inserted notes a recipe of its own, which is asked last.
 */
export async function nameOfOrigin({ process }: LoadedRecipe): Promise<string> {
  const shipped = await listShippedRecipes();
  if (shipped.some((recipe) => recipe.name === process.key)) return process.key;
  const origins = process.stages.flatMap((stage) => stage.origin ?? []);
  const noted = origins.find((one) => one.process !== one.stage) ?? origins[0];
  if (noted !== undefined) return noted.process;
  const message = `No stage of ${process.key} notes where it was copied from; name a recipe.`;
  throw new DialecticError('usage_invalid', message);
}

/** Processes are compared whole; where one side is a stage on its own, that stage alone. */
function compare(before: LoadedRecipe, after: LoadedRecipe): RecipeChange[] {
  if (before.kind === 'process' && after.kind === 'process') {
    return diffProcesses(before.process, after.process);
  }
  const lone = before.kind === 'stage' ? before : after;
  const key = lone.process.stages[0]?.origin?.stage ?? lone.process.key;
  const [old, now] = [findStage(before, key), findStage(after, key) ?? after.process.stages[0]];
  if (old !== undefined && now !== undefined) return diffStages(old, now);
  throw new DialecticError('recipe_conflict', `${before.name} has no stage ${key}.`);
}
