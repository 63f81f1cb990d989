import { openRecipeFolder } from '../catalogue/recipe-folders.ts';
import { validateForRun } from '../planning/validate-for-run.ts';
import { readTextFolder } from '../platform/folders.ts';
import { processOfStage } from '../recipe/lone-stage.ts';
import type { LineIndex, Process, RecipeIssue } from '../recipe/types.ts';
import { checkLoneStage, checkProcess } from '../recipe/validate.ts';

/** Numbers of participants that a recipe is planned for, to find what only shows in a run. */
const LANE_COUNTS = [1, 2, 3];

type RecipeCheck = {
  readonly issues: readonly RecipeIssue[];
  readonly kind: 'process' | 'stage';
  /** Null where there is a defect. */
  readonly process: Process | null;
};

/** Every defect of the recipe in a folder; if there is none, those that planning it shows. */
export async function checkFolder(folder: string): Promise<RecipeCheck> {
  const { kind, folder: path } = openRecipeFolder(folder);
  const files = await readTextFolder(path);
  if (kind === 'process') {
    const { value, lines, issues } = checkProcess(files);
    if (value === null) return { kind, issues, process: null };
    const found = planIt(value, lines);
    return { kind, issues: found, process: found.length === 0 ? value : null };
  }
  const { value, lines, issues } = checkLoneStage(files);
  if (value === null) return { kind, issues, process: null };
  // The planners know the stage as a folder of a process.
  const prefix = `${value.key}/`;
  const moved = Object.entries(lines).map(([file, known]) => [`${prefix}${file}`, known] as const);
  const process = processOfStage(value);
  const found = planIt(process, Object.fromEntries(moved)).map((issue) => ({
    ...issue,
    file: issue.file.slice(prefix.length),
  }));
  return { kind, issues: found, process: found.length === 0 ? process : null };
}

function planIt(process: Process, lines: LineIndex): readonly RecipeIssue[] {
  for (const lanes of LANE_COUNTS) {
    const issues = validateForRun(process, lanes, { lines });
    if (issues.length > 0) return issues;
  }
  return [];
}
