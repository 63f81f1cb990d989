import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { type LoadedRecipe, loadFolder, loadRecipe } from '../catalogue/load-recipe.ts';
import { DialecticError } from '../errors/errors.ts';
import { readTextFolderWithin, requireWithin, updateTextFolder } from '../platform/folders.ts';
import type { MergeConflict } from '../recipe/merge.ts';
import { mergeFiles } from '../recipe/merge-files.ts';
import { toYaml } from '../recipe/serialise.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import { exitWith } from './exit-with.ts';
import { withExample } from './help-text.ts';
import { printResult } from './output.ts';
import { BASE_FOLDER, nameOfOrigin } from './recipe-diff.ts';

type MergeOptions = { readonly base?: string; readonly json?: boolean };

/** `dialectic recipe merge`: takes a newer origin into a fork. */
export function mergeCommand(): Command {
  const command = new Command('merge')
    .description('take what a newer origin changed into a fork; leaves with 5 on conflicts')
    .argument('<folder>', 'folder with process.yaml or stage.yaml')
    .argument('[recipe]', 'the newer origin (default: the shipped recipe that it was copied from)')
    .option(
      '--base <folder>',
      `the origin as it was copied (default: ${BASE_FOLDER} in the folder)`,
    )
    .action(merge);
  return withExample(command, 'dialectic recipe merge my-memo');
}

async function merge(folder: string, named: string | undefined, options: MergeOptions) {
  const fork = await loadFolder(folder);
  const origin = await loadRecipe(named ?? (await nameOfOrigin(fork)));
  const baseFolder = options.base ?? join(fork.folder, BASE_FOLDER);
  if (!existsSync(baseFolder)) {
    throw usage(`${folder} keeps no copy of what it was copied from; name it with --base FOLDER.`);
  }
  if (options.base === undefined) await requireWithin(fork.folder, join(BASE_FOLDER, 'any'));
  const base = await loadFolder(baseFolder);
  if (new Set([fork.kind, origin.kind, base.kind]).size > 1) {
    throw usage('A process merges with a process, a stage with a stage.');
  }
  const merged = mergeFiles({ base: whole(base), fork: whole(fork), origin: whole(origin) });
  const changed = await updateTextFolder(fork.folder, fork.files, bare(fork, merged.files));
  const kept = await readBase(fork.folder);
  await updateTextFolder(fork.folder, inBase(kept), inBase(origin.files));
  const { conflicts } = merged;
  printResult(options.json === true, { folder, origin: origin.name, files: changed, conflicts }, [
    `Merged ${origin.name} into ${folder}: ${countNoun(changed.length, 'file')} changed, ` +
      `${countNoun(conflicts.length, 'conflict')}.`,
    ...conflicts.flatMap(describeConflict),
    `Check it: dialectic recipe validate ${quoteWord(folder)}`,
  ]);
  if (conflicts.length > 0) exitWith(5);
}

const readBase = async (folder: string): Promise<Map<string, string>> => {
  const path = join(folder, BASE_FOLDER);
  return existsSync(path) ? readTextFolderWithin(folder, BASE_FOLDER) : new Map<string, string>();
};

const inBase = (files: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...files].map(([path, text]) => [`${BASE_FOLDER}/${path}`, text]));

/** The files of a recipe as those of a process; a stage on its own becomes its only stage. */
function whole({ kind, files, process: { key, name } }: LoadedRecipe): ReadonlyMap<string, string> {
  if (kind === 'process') return files;
  const moved = [...files].map(([path, text]) => [`${key}/${path}`, text] as const);
  return new Map([['process.yaml', toYaml({ key, name, stages: [key] })], ...moved]);
}

function bare({ kind, process: { key } }: LoadedRecipe, files: ReadonlyMap<string, string>) {
  if (kind === 'process') return files;
  const own = [...files].filter(([path]) => path.startsWith(`${key}/`));
  return new Map(own.map(([path, text]) => [path.slice(key.length + 1), text]));
}

function describeConflict({ stage, place, base, fork, origin }: MergeConflict): string[] {
  return [
    `conflict ${stage === '' ? 'process' : stage} › ${place}: yours was kept`,
    ...showSide('copied', base),
    ...showSide('yours', fork),
    ...showSide('theirs', origin),
  ];
}

function showSide(side: string, value: unknown): string[] {
  const text = typeof value === 'string' ? value : toYaml(value ?? '(absent)');
  return [
    `  ${side}:`,
    ...text
      .trimEnd()
      .split('\n')
      .map((line) => `    ${line}`),
  ];
}

const usage = (message: string): DialecticError => new DialecticError('usage_invalid', message);
