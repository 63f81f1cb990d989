import { openRecipeFolder } from '../catalogue/recipe-folders.ts';
import { findPlanDefects } from '../planning/validate-for-run.ts';
import { readTextFolder } from '../platform/folders.ts';
import { processOfStage } from '../recipe/lone-stage.ts';
import { parseProcess, parseStage, type RecipeFiles } from '../recipe/parse.ts';
import type { IssueCode, LineIndex, Process, RecipeIssue } from '../recipe/types.ts';
import { checkLoneStage, checkProcess, requireParsed } from '../recipe/validate.ts';
import { checkRoom } from '../recipe/validate-room.ts';

/** Numbers of participants that a recipe is planned for, to find what only shows in a run. */
const LANE_COUNTS = [1, 2, 3];

type RecipeCheck = {
  readonly issues: readonly RecipeIssue[];
  readonly kind: 'process' | 'stage';
  /** Null where there is a defect. */
  readonly process: Process | null;
};

/** What cannot change how the steps of a recipe are planned. */
const TEXT_ISSUES: readonly IssueCode[] = [
  'prompt_invalid',
  'prompt_variable_unknown',
  'template_invalid',
  'template_field_unknown',
  'contract_field_unplaced',
];

/** Every defect of the recipe in a folder, those that planning it shows included. */
export async function checkFolder(folder: string): Promise<RecipeCheck> {
  const { kind, folder: path } = openRecipeFolder(folder);
  const files = await readTextFolder(path);
  return kind === 'process' ? checkProcessFiles(files) : checkStageFiles(files);
}

function checkProcessFiles(files: RecipeFiles): RecipeCheck {
  const { lines, issues } = checkProcess(files);
  const planned = isPlannable(issues) ? tryOut(requireParsed(parseProcess(files)), lines) : [];
  return conclude('process', [...issues, ...planned], () => requireParsed(parseProcess(files)));
}

function checkStageFiles(files: RecipeFiles): RecipeCheck {
  const { lines, issues } = checkLoneStage(files);
  const parse = (): Process => processOfStage(requireParsed(parseStage(files)));
  if (!isPlannable(issues)) return conclude('stage', issues, parse);
  // The planners know the stage as a folder of a process.
  const process = parse();
  const prefix = `${process.key}/`;
  const moved = Object.entries(lines).map(([file, known]) => [`${prefix}${file}`, known] as const);
  const planned = tryOut(process, Object.fromEntries(moved)).map((issue) => ({
    ...issue,
    file: issue.file.slice(prefix.length),
  }));
  return conclude('stage', [...issues, ...planned], parse);
}

const isPlannable = (issues: readonly RecipeIssue[]): boolean =>
  issues.every(({ code }) => TEXT_ISSUES.includes(code));

const conclude = (
  kind: RecipeCheck['kind'],
  issues: readonly RecipeIssue[],
  parse: () => Process,
): RecipeCheck => ({ kind, issues, process: issues.length === 0 ? parse() : null });

/**
 * What shows only where the recipe is planned, and which documents have fewer words than their
 * fields take. A run does not refuse the latter: it ends with documents that are too long.
 */
const tryOut = (process: Process, lines: LineIndex): RecipeIssue[] => [
  ...planIt(process, lines),
  ...checkRoom(process, lines),
];

/** A defect that shows with several numbers of participants is reported once. */
function planIt(process: Process, lines: LineIndex): RecipeIssue[] {
  const places = new Map<string, RecipeIssue>();
  for (const lanes of LANE_COUNTS) {
    for (const issue of findPlanDefects(process, lanes, { lines })) {
      const place = `${issue.file} ${issue.field}`;
      if (!places.has(place)) places.set(place, issue);
    }
  }
  return [...places.values()];
}
