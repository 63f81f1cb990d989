import type { MergeConflict, Sides } from './merge.ts';
import { mapSides } from './merge.ts';
import { mergeProcess } from './merge-process.ts';
import { parseProcess, type RecipeFiles } from './parse.ts';
import type { Process } from './types.ts';
import { updateFiles } from './update-files.ts';
import { requireParsed } from './validate.ts';

export type MergedFiles = {
  readonly process: Process;
  readonly files: Map<string, string>;
  /** Places that both sides changed; the fork's text was kept there. */
  readonly conflicts: readonly MergeConflict[];
};

/**
 * Merges a newer origin into the folder of a fork: `base` holds the files that were forked, `fork`
 * what became of them, `origin` what is shipped now. Files that stay keep their text.
 */
export function mergeFiles(sides: Sides<RecipeFiles>): MergedFiles {
  const { base, fork, origin } = mapSides(sides, (files) => requireParsed(parseProcess(files)));
  const { process, conflicts } = mergeProcess(base, fork, origin);
  const added = origin.stages.filter(
    ({ key }) =>
      process.stages.some((stage) => stage.key === key) &&
      !fork.stages.some((stage) => stage.key === key),
  );
  const update = { files: sides.fork, before: fork, after: process, added, sources: sides.origin };
  return { process, files: updateFiles(update), conflicts };
}
