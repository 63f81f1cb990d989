import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { DialecticError } from '../errors/errors.ts';

/** A folder that holds a recipe; a process has process.yaml at its root, a lone stage stage.yaml. */
export type RecipeFolder = {
  readonly name: string;
  readonly kind: 'process' | 'stage';
  readonly folder: string;
  readonly shipped: boolean;
};

// The same two steps up from src/platform in the repository and dist/platform in the package.
const SHIPPED = fileURLToPath(new URL('../../recipes', import.meta.url));

/** The recipes that come with the program, by name. */
export async function listShippedRecipes(): Promise<RecipeFolder[]> {
  const names = (await readdir(SHIPPED)).toSorted();
  return names.flatMap((name) => lookInto(join(SHIPPED, name), true) ?? []);
}

/**
 * A shipped recipe by its name, or a folder by its path. A shipped name wins over a folder that is
 * called the same; `./name` means the folder.
 */
export async function findRecipe(nameOrFolder: string): Promise<RecipeFolder> {
  const shipped = (await listShippedRecipes()).find((recipe) => recipe.name === nameOrFolder);
  return shipped ?? openRecipeFolder(nameOrFolder);
}

/** The recipe in a folder. */
export function openRecipeFolder(folder: string): RecipeFolder {
  const found = lookInto(resolve(folder), false);
  if (found !== null) return found;
  const message = existsSync(folder)
    ? `${folder} has neither process.yaml nor stage.yaml at its root.`
    : `There is no recipe ${folder}, neither shipped nor as a folder.`;
  throw new DialecticError('recipe_unknown', message);
}

/**
 * The process that a run takes which names none: the one that recipes/domains.yaml gives the domain,
 * and software-plan without a domain.
 */
export async function defaultProcess(domain: string | undefined): Promise<string> {
  if (domain === undefined) return 'software-plan';
  const processes = await readDomains();
  const name = Object.hasOwn(processes, domain) ? processes[domain] : undefined;
  if (name !== undefined) return name;
  const known = Object.keys(processes).join(', ');
  const message = `There is no domain ${domain}; there are ${known}. A recipe of your own needs -p.`;
  throw new DialecticError('usage_invalid', message, { details: { domains: known } });
}

/** The domains that have a process of their own. */
export const listDomains = async (): Promise<string[]> => Object.keys(await readDomains());

async function readDomains(): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(join(SHIPPED, 'domains.yaml'), 'utf8');
  return parse(text, { logLevel: 'error' }) as Readonly<Record<string, string>>;
}

function lookInto(folder: string, shipped: boolean): RecipeFolder | null {
  const name = basename(folder);
  for (const kind of ['process', 'stage'] as const) {
    if (existsSync(join(folder, `${kind}.yaml`))) return { name, kind, folder, shipped };
  }
  return null;
}
