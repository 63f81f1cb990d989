import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { type LoadedRecipe, loadFolder, loadRecipe } from '../catalogue/load-recipe.ts';
import { DialecticError } from '../errors/errors.ts';
import { type InsertedStage, insertStageFiles } from '../planning/insert-stage-files.ts';
import { readTextFolder, updateTextFolder } from '../platform/folders.ts';
import type { Position } from '../recipe/edit.ts';
import type { MergeConflict } from '../recipe/merge.ts';
import { mergeFiles } from '../recipe/merge-files.ts';
import { toYaml } from '../recipe/serialise.ts';
import { exitWith } from './exit-with.ts';
import { printResult } from './output.ts';
import { BASE_FOLDER, nameOfOrigin } from './recipe-diff.ts';

type InsertOptions = { readonly before?: string; readonly after?: string; readonly json?: boolean };
type MergeOptions = { readonly base?: string; readonly json?: boolean };

/** `dialectic recipe insert`: puts a stage into the folder of a process. */
export function insertCommand(): Command {
  return new Command('insert')
    .description('copy a stage into a process and let the stage behind it read what it makes')
    .usage('[options] [folder] <stage>')
    .argument('<folder>', 'folder with process.yaml (default: this one)')
    .argument('[stage]', 'a shipped stage, or a folder with stage.yaml')
    .option('--before <stage>', 'the stage that follows it')
    .option('--after <stage>', 'the stage that precedes it')
    .action(insert);
}

/** `dialectic recipe merge`: takes a newer origin into a fork. */
export function mergeCommand(): Command {
  return new Command('merge')
    .description('take what a newer origin changed into a fork; leaves with 5 on conflicts')
    .argument('<folder>', 'folder with process.yaml or stage.yaml')
    .argument('[recipe]', 'the newer origin (default: the shipped recipe that it was copied from)')
    .option(
      '--base <folder>',
      `the origin as it was copied (default: ${BASE_FOLDER} in the folder)`,
    )
    .action(merge);
}

async function insert(
  first: string,
  second: string | undefined,
  options: InsertOptions,
): Promise<void> {
  const [folder, stage] = second === undefined ? ['.', first] : [first, second];
  const recipe = await loadFolder(folder);
  const source = await loadRecipe(stage);
  if (recipe.kind !== 'process') throw usage(`${folder} holds a stage, not a process.`);
  if (source.kind !== 'stage') throw usage(`${stage} is a process; insert takes a stage.`);
  const inserted = insertStageFiles(recipe.files, source.files, positionOf(options));
  const changed = await updateTextFolder(recipe.folder, recipe.files, inserted.files);
  const { key } = source.process;
  const result = { folder, stage: key, wiring: inserted.wiring, files: changed };
  printResult(options.json === true, result, [
    `Put ${key} into ${folder}; ${changed.length} files written.`,
    ...describeWiring(inserted),
    `Check it: dialectic recipe diff ${folder}`,
  ]);
}

function positionOf({ before, after }: InsertOptions): Position {
  if (before !== undefined && after === undefined) return { before };
  if (after !== undefined && before === undefined) return { after };
  throw usage('Name one place: --before STAGE or --after STAGE.');
}

function describeWiring({ wiring }: InsertedStage): string[] {
  if (wiring.length === 0) return ['No stage behind it reads what it makes.'];
  return wiring.map(
    ({ stage, step, documents }) => `${stage}/${step} reads ${documents.join(', ')}.`,
  );
}

async function merge(folder: string, named: string | undefined, options: MergeOptions) {
  const fork = await loadFolder(folder);
  const origin = await loadRecipe(named ?? (await nameOfOrigin(fork)));
  const baseFolder = options.base ?? join(fork.folder, BASE_FOLDER);
  if (!existsSync(baseFolder)) {
    throw usage(`${folder} keeps no copy of what it was copied from; name it with --base FOLDER.`);
  }
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
    `Merged ${origin.name} into ${folder}: ${changed.length} files changed, ` +
      `${conflicts.length} conflicts.`,
    ...conflicts.flatMap(describeConflict),
    `Check it: dialectic recipe validate ${folder}`,
  ]);
  if (conflicts.length > 0) exitWith(5);
}

const readBase = async (folder: string): Promise<Map<string, string>> => {
  const path = join(folder, BASE_FOLDER);
  return existsSync(path) ? readTextFolder(path) : new Map<string, string>();
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
