import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadedRecipe, loadFolder, loadFrom, loadRecipe } from '../catalogue/load-recipe.ts';
import { listShippedRecipes } from '../catalogue/recipe-folders.ts';
import { DialecticError } from '../errors/errors.ts';
import { requireWithin } from '../platform/folders.ts';
import { diffProcesses, diffStages, type RecipeChange } from '../recipe/diff.ts';
import type { Stage } from '../recipe/types.ts';
import { hashStage } from '../recipe/version.ts';
import { quoteWord } from '../text/quote-word.ts';

/** Where a fork keeps the files that it was copied from; recipes are read without it. */
export const BASE_FOLDER = '.origin';

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
  const origin = named === undefined ? await loadOrigin(recipe) : await loadRecipe(named);
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

/** What a folder is compared with where nothing is named. */
async function loadOrigin(recipe: LoadedRecipe): Promise<LoadedRecipe> {
  const name = await findOrigin(recipe);
  if (name !== null) return loadRecipe(name);
  const base = await loadBase(recipe);
  if (base === null) throw originUnknown(recipe);
  return { ...base, name: `the ${base.process.key} that it was copied from` };
}

/** The shipped recipe that a folder was copied from. */
export async function nameOfOrigin(recipe: LoadedRecipe): Promise<string> {
  const name = await findOrigin(recipe);
  if (name === null) throw originUnknown(recipe);
  return name;
}

const originUnknown = ({ name, process }: LoadedRecipe): DialecticError =>
  new DialecticError(
    'usage_invalid',
    `${process.key} names no shipped recipe as its origin and has no stage of one. ` +
      `Name the other recipe: dialectic recipe diff ${quoteWord(name)} RECIPE`,
  );

/**
 * The copy that a fork keeps of its origin tells which one that is; without it the key, then what the
 * stages note, then the stages themselves. An inserted stage notes a recipe of its own, which is no
 * process and says nothing about the rest.
 */
async function findOrigin(recipe: LoadedRecipe): Promise<string | null> {
  const shipped = await Promise.all((await listShippedRecipes()).map(loadFrom));
  const ofKind = shipped.filter(({ kind }) => kind === recipe.kind);
  const isShipped = (key: string): boolean => ofKind.some(({ name }) => name === key);
  const base = await loadBase(recipe);
  if (base !== null) return isShipped(base.process.key) ? base.process.key : null;
  const noted = recipe.process.stages.flatMap(({ origin }) => origin?.process ?? []);
  const named = [recipe.process.key, ...noted].find(isShipped);
  return named ?? mostAlike(recipe, ofKind)?.name ?? null;
}

async function loadBase({ folder }: LoadedRecipe): Promise<LoadedRecipe | null> {
  const path = join(folder, BASE_FOLDER);
  if (!existsSync(path)) return null;
  await requireWithin(folder, join(BASE_FOLDER, 'any'));
  return loadFolder(path);
}

/** The recipe that shares most stages with another, by key; null where none shares any. */
function mostAlike(recipe: LoadedRecipe, others: readonly LoadedRecipe[]): LoadedRecipe | null {
  const keys = new Set(recipe.process.stages.map((stage) => stage.key));
  const shares = others.map((other) => ({
    other,
    count: other.process.stages.filter((stage) => keys.has(stage.key)).length,
  }));
  const best = shares.toSorted((a, b) => b.count - a.count)[0];
  return best !== undefined && best.count > 0 ? best.other : null;
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
