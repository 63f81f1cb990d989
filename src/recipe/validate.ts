import { hash } from 'node:crypto';
import { DialecticError } from '../errors/errors.ts';
import type { JsonPath } from '../text/json-path.ts';
import { freezeDeep, Memo } from '../text/memo.ts';
import {
  type Parsed,
  parseProcess,
  parseSoundStages,
  parseStage,
  type RecipeFiles,
} from './parse.ts';
import { PROCESS_SCHEMA } from './schemas.ts';
import { processToFiles, toYaml } from './serialise.ts';
import type { IssueCode, LineIndex, Process, RecipeIssue, Stage } from './types.ts';
import { checkProcessFile } from './validate-process.ts';
import { checkStage } from './validate-stage.ts';
import { checkTexts } from './validate-texts.ts';
import { locate, parseYamlFile } from './yaml-file.ts';

const KEEP = 10;

/** What the checks share: the process, and where to put what they find. */
export type Validation = {
  readonly process: Process;
  readonly add: (code: IssueCode, file: string, path: JsonPath, message: string) => void;
  /** For defects inside a Markdown file, whose lines the template engine knows. */
  readonly addAt: (issue: RecipeIssue) => void;
};

/**
 * Every defect of a process, in the order of its files. A process that was made by edits has no
 * files yet: it is located in the files that it would be written to.
 */
export function validateProcess(process: Process, lines?: LineIndex): RecipeIssue[] {
  const issues: RecipeIssue[] = [];
  let index = lines;
  const validation: Validation = {
    process,
    add: (code, file, path, message) => {
      index ??= parseProcess(processToFiles(process)).lines;
      issues.push({ code, message, ...locate(index, file, path) });
    },
    addAt: (issue) => issues.push(issue),
  };
  checkProcessFile(validation);
  for (const [position, stage] of process.stages.entries()) {
    checkStage(validation, stage, position);
    checkTexts(validation, stage);
  }
  return issues;
}

/** Throws recipe_invalid, with every issue in the details, unless there is none. */
export function requireValid(issues: readonly RecipeIssue[]): void {
  const [first] = issues;
  if (first === undefined) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const message = `${first.file}:${first.line}: ${first.message}${more}`;
  throw new DialecticError('recipe_invalid', message, { details: { issues } });
}

/** Parses and validates; where a file does not parse, what the other stages say is still checked. */
export function checkProcess(files: RecipeFiles): Parsed<Process> {
  const { value, lines, issues: unparsed } = parseSoundStages(files);
  if (value === null) return { value, lines, issues: [...unparsed, ...checkStagesAlone(files)] };
  const found = validateProcess(value, lines);
  const issues =
    unparsed.length === 0 ? found : [...unparsed, ...found.filter(holdsWithoutOtherStages)];
  return { value: issues.length > 0 ? null : value, lines, issues };
}

/**
 * The defects of the stages where process.yaml itself does not parse: in the order in which it lists
 * them, as far as that can be read, else in that of their folders, which says nothing about what runs
 * first.
 */
function checkStagesAlone(files: RecipeFiles): RecipeIssue[] {
  const listed = listStages(files);
  const folders = [...files.keys()].flatMap(
    (path) => /^([^/]+)\/stage\.yaml$/.exec(path)?.[1] ?? [],
  );
  const stages = listed ?? folders.toSorted();
  if (stages.length === 0) return [];
  const named = toYaml({ key: 'process', name: 'Process', stages });
  return checkProcess(new Map([...files, ['process.yaml', named]]))
    .issues.filter(holdsWithoutOtherStages)
    .filter(({ code }) => listed !== null || code !== 'never_produced');
}

/** The stages that a defective process.yaml names; null where it does not say so legibly. */
function listStages(files: RecipeFiles): string[] | null {
  const { value } = parseYamlFile('process.yaml', files.get('process.yaml') ?? '', PROCESS_SCHEMA);
  const stages = value !== null && typeof value === 'object' && 'stages' in value && value.stages;
  if (!Array.isArray(stages) || stages.length === 0) return null;
  const known = stages.every((name) => files.has(`${name}/stage.yaml`));
  return known && new Set(stages).size === stages.length ? stages.map(String) : null;
}

/** False for what may only look like a defect because another stage did not parse. */
function holdsWithoutOtherStages({ code, file, field }: RecipeIssue): boolean {
  if (file === 'process.yaml') return false;
  if (code === 'missing_producer') return !field.endsWith('.stage');
  return code !== 'driver_invalid' || !field.endsWith('.inputs');
}

/** A run reads its recipe three times over: what was sound then still is. */
const sound = new Memo<Process>(KEEP);

/** A process that may run, or recipe_invalid. */
export function loadProcess(files: RecipeFiles): Process {
  return sound.get(hash('sha256', JSON.stringify([...files]), 'hex'), () => {
    const checked = checkProcess(files);
    requireValid(checked.issues);
    return freezeDeep(checked.value!);
  });
}

/** Parses and validates a stage that stands on its own, as a process with that one stage. */
export function checkLoneStage(files: RecipeFiles): Parsed<Stage> {
  const parsed = parseStage(files);
  if (parsed.value === null) return parsed;
  const { key, name } = parsed.value;
  const whole = new Map([...files].map(([path, text]) => [`${key}/${path}`, text]));
  whole.set('process.yaml', toYaml({ key, name, stages: [key] }));
  const issues = checkProcess(whole).issues.map((issue) => ({
    ...issue,
    file: issue.file.startsWith(`${key}/`) ? issue.file.slice(key.length + 1) : issue.file,
  }));
  return { value: issues.length > 0 ? null : parsed.value, lines: parsed.lines, issues };
}

/** What was parsed; throws `recipe_invalid` with every defect where there is one. */
export function requireParsed<T>(parsed: Parsed<T>): T {
  requireValid(parsed.issues);
  return parsed.value!;
}
