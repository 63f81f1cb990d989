import { join } from 'node:path';
import type { LoadedRecipe } from '../catalogue/load-recipe.ts';
import type { RecipeChange } from '../recipe/diff.ts';
import { driverOf } from '../recipe/driver.ts';
import { toYaml } from '../recipe/serialise.ts';
import type { RecipeIssue, Stage, Step, StepInput } from '../recipe/types.ts';
import { countNoun } from '../text/count-noun.ts';
import { diffLines } from './line-diff.ts';

const WIDTH = 96;

/** Two lines or more for `list`. */
export function summarise(recipe: LoadedRecipe): string[] {
  const { name, process, version } = recipe;
  return [
    `${name}: ${countParts(recipe)}, version ${version.slice(0, 12)}`,
    ...wrapText(process.description, '  '),
  ];
}

/** `process, 5 stages, 33 steps` or `stage, 4 steps` */
export function countParts({ kind, process }: Pick<LoadedRecipe, 'kind' | 'process'>): string {
  const steps = process.stages.reduce((sum, stage) => sum + stage.steps.length, 0);
  const stages = kind === 'stage' ? '' : ` ${countNoun(process.stages.length, 'stage')},`;
  return `${kind},${stages} ${countNoun(steps, 'step')}`;
}

/** The whole recipe for a reader: stages, steps, what each reads and makes. */
export function describeRecipe(recipe: LoadedRecipe, calls: readonly number[] | null): string[] {
  const { process, version, folder } = recipe;
  const gates = process.transitions.filter((one) => one.gate).map((one) => one.from);
  const results = process.results.map((ref) => `${ref.stage}/${ref.documentKey}`);
  return [
    `${process.name} (${process.key}), ${countParts(recipe)}`,
    ...wrapText(process.description, ''),
    '',
    `version      ${version.slice(0, 12)}`,
    `folder       ${folder}`,
    calls === null
      ? 'model calls  unknown: it has defects, which `dialectic recipe validate` lists'
      : `model calls  ${calls.join(', ')} with 1, 2, 3 participants`,
    ...(results.length === 0 ? [] : wrapList('results      ', results)),
    ...(gates.length === 0 ? [] : [`approval     after ${gates.join(', ')}`]),
    ...(process.writerAfter === null ? [] : [`one writer   after ${process.writerAfter}`]),
    ...process.stages.flatMap(describeStage),
  ];
}

function describeStage(stage: Stage, index: number): string[] {
  const { origin } = stage;
  return [
    '',
    `${index + 1}. ${stage.name} (${stage.key})`,
    ...wrapText(stage.description, '   '),
    ...(origin === null
      ? []
      : [`   copied from ${origin.process}/${origin.stage}, ${origin.version.slice(0, 12)}`]),
    ...stage.steps.flatMap((step) => describeStep(step, stage.key)),
  ];
}

function describeStep(step: Step, stageKey: string): string[] {
  const driver = driverOf(step);
  const split = driver === undefined ? step.granularity : `${step.granularity} of ${driver.name}`;
  const inputs = step.inputs.map((input) => describeInput(input, stageKey));
  return [
    `   - ${step.name} (${step.key})${step.skip ? ', skipped' : ''}`,
    `       ${step.compute === null ? step.jobType : 'code'} ${split} → ${step.output.documentKey}`,
    ...wrapList('       reads ', inputs.length === 0 ? ['nothing'] : inputs),
  ];
}

function describeInput(input: StepInput, stageKey: string): string {
  const elsewhere = input.stage !== null && input.stage !== stageKey;
  const marks = [
    ...(input.scope === 'all' ? ['all lanes'] : []),
    ...(input.iteration === 'previous' ? ['last pass'] : []),
    ...(input.required ? [] : ['optional']),
  ];
  const name = elsewhere ? `${input.stage}/${input.name}` : input.name;
  return marks.length === 0 ? name : `${name} (${marks.join(', ')})`;
}

/** `file:line field: message (code)`, with the path from here, so that a terminal can open it. */
export function formatIssue(folder: string, issue: RecipeIssue): string {
  const { file, line, field, code } = issue;
  const message = issue.message.startsWith(`${field} `)
    ? issue.message.slice(field.length + 1)
    : issue.message;
  return `${join(folder, file)}:${line}${field === '' ? '' : ` ${field}`}: ${message} (${code})`;
}

/** One change: its place, then the old and the new value, or the lines that differ. */
export function formatChange(change: RecipeChange): string[] {
  const { stage, place, kind } = change;
  const head = `${kind} ${stage === '' ? 'process' : stage} › ${place}`;
  if (kind !== 'changed') return [head];
  const [before, after] = [toText(change.before), toText(change.after)];
  if (!`${before}${after}`.includes('\n')) return [`${head}: ${before} → ${after}`];
  return [head, ...diffLines(before, after).map((line) => `  ${line}`)];
}

const toText = (value: unknown): string =>
  (typeof value === 'string' ? value : toYaml(value)).trimEnd();

const wrapText = (text: string, indent: string): string[] =>
  wrap(
    text.split(/\s+/).filter((word) => word !== ''),
    indent,
    indent,
  );

/** A list behind its label; a line breaks between items and hangs below the first. */
const wrapList = (label: string, items: readonly string[]): string[] =>
  wrap(
    items.map((item, at) => (at < items.length - 1 ? `${item},` : item)),
    label,
    ' '.repeat(label.length),
  );

function wrap(parts: readonly string[], first: string, others: string): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(`${first}${part}`);
    else if (last.length + 1 + part.length > WIDTH) lines.push(`${others}${part}`);
    else lines[lines.length - 1] = `${last} ${part}`;
  }
  return lines;
}
