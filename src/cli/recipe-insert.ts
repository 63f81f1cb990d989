import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { type LoadedRecipe, loadFolder, loadRecipe } from '../catalogue/load-recipe.ts';
import { listShippedRecipes } from '../catalogue/recipe-folders.ts';
import { DialecticError } from '../errors/errors.ts';
import { type InsertedStage, insertStageFiles } from '../planning/insert-stage-files.ts';
import { updateTextFolder, writeTextFolder } from '../platform/folders.ts';
import type { Position } from '../recipe/edit.ts';
import { forkFiles, withEditorSchemas } from '../recipe/fork-files.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import { withExample } from './help-text.ts';
import { printResult } from './output.ts';
import { withBase } from './recipe-fork.ts';

type Options = {
  readonly before?: string;
  readonly after?: string;
  readonly into?: string;
  readonly json?: boolean;
};

const EXAMPLE = 'dialectic recipe insert decision-memo research --before propose --into my-memo';

/** `dialectic recipe insert`: puts a stage into a process. */
export function insertCommand(): Command {
  const command = new Command('insert')
    .description('copy a stage into a process and let the stage behind it read what it makes')
    .usage('(--before <stage> | --after <stage>) [options] [folder] <stage>')
    .argument(
      '[folder]',
      'folder with process.yaml (default: this one); with --into also the name of a shipped process',
    )
    .argument('[stage]', 'a shipped stage, or a folder with stage.yaml (required)')
    .option('--before <stage>', 'the stage that follows it (this or --after is required)')
    .option('--after <stage>', 'the stage that precedes it (this or --before is required)')
    .option('--into <folder>', 'leave the process as it is, and write a changed copy here')
    .action(insert);
  return withExample(command, EXAMPLE);
}

async function insert(
  first: string | undefined,
  second: string | undefined,
  options: Options,
): Promise<void> {
  const [folder, stage] = second === undefined ? ['.', first] : [first!, second];
  if (stage === undefined) throw usage(`Missing required argument 'stage'.`);
  const position = positionOf(options);
  const recipe = await loadProcess(folder, stage, options);
  const source = await loadRecipe(stage);
  if (recipe.kind !== 'process') throw usage(`${folder} holds a stage, not a process.`);
  if (source.kind !== 'stage') throw usage(`${stage} is a process; insert takes a stage.`);
  const { inserted, changed } = await (options.into === undefined
    ? change(recipe, source, position)
    : writeCopy(recipe, source, position, options.into));
  const target = options.into ?? folder;
  const { key } = source.process;
  const result = { folder: target, stage: key, wiring: inserted.wiring, files: changed };
  printResult(options.json === true, result, [
    `Put ${key} into ${target}; ${countNoun(changed.length, 'file')} written.`,
    ...describeWiring(inserted),
    `Check it: dialectic recipe diff ${quoteWord(target)}`,
    `Run it: dialectic run BRIEF -p ${quoteWord(asPath(target))}`,
  ]);
}

/** A recipe that is named without a slash is a shipped one. */
const asPath = (folder: string): string => (folder.includes('/') ? folder : `./${folder}`);

type Change = { readonly inserted: InsertedStage; readonly changed: readonly string[] };

async function change(
  recipe: LoadedRecipe,
  source: LoadedRecipe,
  position: Position,
): Promise<Change> {
  const inserted = insertStageFiles(recipe.files, source.files, position);
  const changed = await updateTextFolder(recipe.folder, recipe.files, inserted.files);
  return { inserted, changed };
}

/** A fork of the process in which the stage behind the new one notes its origin, since it changes. */
async function writeCopy(
  recipe: LoadedRecipe,
  source: LoadedRecipe,
  position: Position,
  folder: string,
): Promise<Change> {
  const planned = insertStageFiles(recipe.files, source.files, position);
  const rewired = [...new Set(planned.wiring.map((one) => one.stage))];
  const forked = forkFiles(recipe.files, recipe.process, rewired);
  const inserted = insertStageFiles(forked, source.files, position);
  const files = withEditorSchemas(inserted.files);
  await writeTextFolder(folder, withBase(recipe, files));
  return { inserted, changed: [...files.keys()] };
}

/** A shipped process is never changed, so that it must be copied first. */
async function loadProcess(
  folder: string,
  stage: string,
  { before, after, into }: Options,
): Promise<LoadedRecipe> {
  if (into !== undefined) return loadRecipe(folder);
  const isShipped = (await listShippedRecipes()).some(({ name }) => name === folder);
  if (!isShipped || existsSync(folder)) return loadFolder(folder);
  const place =
    before === undefined ? `--after ${quoteWord(after ?? '')}` : `--before ${quoteWord(before)}`;
  const message =
    `${folder} is a shipped recipe, which stays as it is. ` +
    `Write a copy that has the stage with: dialectic recipe insert ${quoteWord(folder)} ${quoteWord(stage)} ${place} --into my-${quoteWord(folder)}`;
  throw new DialecticError('usage_invalid', message);
}

function positionOf({ before, after }: Options): Position {
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

const usage = (message: string): DialecticError =>
  new DialecticError('usage_invalid', `${message}\n  For example: ${EXAMPLE}`);
