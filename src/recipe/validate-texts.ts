import { ANY, ITEM, type PathPart, type VariableUse } from '../text/liquid-paths.ts';
import {
  findUnknownPart,
  printPath,
  promptShape,
  type Shape,
  seedPromptShape,
  templateShape,
} from './prompt-variables.ts';
import { readerOf, type TextReader } from './text-uses.ts';
import type { ContractNode, IssueCode, Stage } from './types.ts';
import type { Validation } from './validate.ts';

type TextCheck = {
  readonly validation: Validation;
  readonly stage: Stage;
  readonly texts: TextReader;
  /** A prompt that several steps share may be wrong for one of them; the rest is said once. */
  readonly reported: Set<string>;
};

/** Checks prompts against their variables, and templates against their contracts. */
export function checkTexts(validation: Validation, stage: Stage): void {
  const texts = readerOf(validation.process, stage);
  const check: TextCheck = { validation, stage, texts, reported: new Set() };
  const file = `${stage.key}/stage.yaml`;
  const missing = (path: readonly (string | number)[], name: string): void =>
    validation.add('file_missing', file, path, `${name} does not exist`);
  if (stage.seedPrompt !== null) {
    if (!texts.has(stage.seedPrompt)) missing(['seed_prompt'], stage.seedPrompt);
    else checkPrompt(check, stage.seedPrompt, seedPromptShape());
  }
  for (const [index, step] of stage.steps.entries()) {
    if (step.skip) continue;
    if (step.prompt !== null) {
      if (!texts.has(step.prompt)) missing(['steps', index, 'prompt'], step.prompt);
      else checkPrompt(check, step.prompt, promptShape(step));
    }
    const { template } = step.output;
    const contract = stage.contracts[step.output.contract];
    if (template === null) continue;
    if (!texts.has(template)) missing(['steps', index, 'output', 'template'], template);
    else if (contract !== undefined) {
      checkTemplate(check, template, contract, step.output.contract);
    }
  }
}

function checkPrompt(check: TextCheck, file: string, shape: Shape): void {
  const uses = readUses(check, file, 'prompt_invalid');
  reportUnknown(check, uses, shape, 'prompt_variable_unknown', 'no such variable');
}

function checkTemplate(
  check: TextCheck,
  file: string,
  contract: ContractNode,
  contractFile: string,
): void {
  const uses = readUses(check, file, 'template_invalid');
  if (uses === null) return;
  const reason = `not a field of ${contractFile}`;
  reportUnknown(check, uses, templateShape(contract), 'template_field_unknown', reason);
  const placed = uses.filter((use) => use.printed && use.path[0] === 'content');
  const places = placed.map((use) => use.path.slice(1));
  for (const field of listFields(contract, [])) {
    if (places.some((place) => covers(place, field))) continue;
    const name = printPath(['content', ...field]);
    const path = field.flatMap(toSchemaPath);
    const message = `${file} has no place for ${name}`;
    check.validation.add(
      'contract_field_unplaced',
      `${check.stage.key}/${contractFile}`,
      path,
      message,
    );
  }
}

/** Where a field is described in the contract file. */
const toSchemaPath = (part: PathPart): string[] =>
  part === ITEM ? ['items'] : ['properties', String(part)];

function readUses(check: TextCheck, file: string, code: IssueCode): readonly VariableUse[] | null {
  const { uses, faults } = check.texts.read(file);
  for (const fault of faults) report(check, code, fault.file, fault.line, fault.message, '');
  return uses;
}

function reportUnknown(
  check: TextCheck,
  uses: readonly VariableUse[] | null,
  shape: Shape,
  code: IssueCode,
  reason: string,
): void {
  for (const use of uses ?? []) {
    const unknown = findUnknownPart(shape, use.path);
    if (unknown !== null) report(check, code, use.file, use.line, `${unknown}: ${reason}`, unknown);
  }
}

function report(
  check: TextCheck,
  code: IssueCode,
  file: string,
  line: number,
  message: string,
  field: string,
): void {
  const own = Object.hasOwn(check.stage.files, file);
  const issue = { code, message, file: own ? `${check.stage.key}/${file}` : file, line, field };
  const key = JSON.stringify(issue);
  if (check.reported.has(key)) return;
  check.reported.add(key);
  check.validation.addAt(issue);
}

/** The paths of a contract's innermost fields. */
function listFields(node: ContractNode, path: readonly PathPart[]): (readonly PathPart[])[] {
  if (node['x-shown'] === false) return [];
  if (node.properties !== undefined) {
    return Object.entries(node.properties).flatMap(([key, child]) =>
      listFields(child, [...path, key]),
    );
  }
  if (node.items?.properties !== undefined) return listFields(node.items, [...path, ITEM]);
  return [path];
}

/** Printing a part prints all that it holds; a computed field may be any. */
function covers(place: readonly PathPart[], field: readonly PathPart[]): boolean {
  for (const [index, part] of place.entries()) {
    if (part === ANY) return true;
    if (index >= field.length) return part === ITEM;
    if (part !== field[index]) return false;
  }
  return true;
}
