import { readTextFolder } from '../platform/folders.ts';
import { processOfStage } from '../recipe/lone-stage.ts';
import { parseProcess, parseStage } from '../recipe/parse.ts';
import type { Process } from '../recipe/types.ts';
import { requireParsed } from '../recipe/validate.ts';
import { hashProcess, hashStage } from '../recipe/version.ts';
import { findRecipe, openRecipeFolder, type RecipeFolder } from './recipe-folders.ts';

/** A recipe that parses; a stage on its own stands in a process of its own. */
export type LoadedRecipe = RecipeFolder & {
  readonly files: ReadonlyMap<string, string>;
  readonly process: Process;
  /** Of the process, or of the stage that stands alone. */
  readonly version: string;
};

/** Reads a shipped recipe or a folder; defects of meaning are left to `validate`. */
export async function loadRecipe(nameOrFolder: string): Promise<LoadedRecipe> {
  return loadFrom(await findRecipe(nameOrFolder));
}

/** Reads a folder, also where a shipped recipe has its name. */
export function loadFolder(folder: string): Promise<LoadedRecipe> {
  return loadFrom(openRecipeFolder(folder));
}

/** Reads a recipe whose folder is known. */
export async function loadFrom(found: RecipeFolder): Promise<LoadedRecipe> {
  const files = await readTextFolder(found.folder);
  if (found.kind === 'process') {
    const process = requireParsed(parseProcess(files));
    return { ...found, files, process, version: hashProcess(process) };
  }
  const stage = requireParsed(parseStage(files));
  return { ...found, files, process: processOfStage(stage), version: hashStage(stage) };
}
