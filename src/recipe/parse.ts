import { expandCombine } from './expand-combine.ts';
import { inputFromFile, type ProcessFile, type StageFile, stepFromFile } from './file-shape.ts';
import { CONTRACT_SCHEMA, PROCESS_SCHEMA, STAGE_SCHEMA } from './schemas.ts';
import type { Contract, Process, RecipeIssue, Stage, Transition } from './types.ts';
import { locate, parseYamlFile } from './yaml-file.ts';

/** Relative path with forward slashes, to text. Reading a folder is the caller's work. */
export type RecipeFiles = ReadonlyMap<string, string>;

export type Parsed<T> = {
  /** Null as soon as there is one issue, but for parseSoundStages. */
  readonly value: T | null;
  readonly lines: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly issues: readonly RecipeIssue[];
};

type Collector = {
  readonly lines: Record<string, Readonly<Record<string, number>>>;
  readonly issues: RecipeIssue[];
};

/** Reads a process folder; shape only, validateProcess checks what it means. */
export function parseProcess(files: RecipeFiles): Parsed<Process> {
  const parsed = parseSoundStages(files);
  return parsed.issues.length > 0 ? { ...parsed, value: null } : parsed;
}

/** Like parseProcess, but the value holds every stage that parses, even where another fails. */
export function parseSoundStages(files: RecipeFiles): Parsed<Process> {
  const found: Collector = { lines: {}, issues: [] };
  const raw = readYaml(found, files, 'process.yaml', PROCESS_SCHEMA) as ProcessFile | null;
  if (raw === null) return { value: null, ...found };
  const stages = raw.stages.map((stage) => {
    const before = found.issues.length;
    const value = readStage(found, files, `${stage}/`);
    return found.issues.length > before ? null : value;
  });
  const process: Process = {
    key: raw.key,
    name: raw.name,
    description: raw.description ?? '',
    stages: stages.filter((stage) => stage !== null),
    transitions: completeTransitions(raw),
    overlay: raw.overlay ?? {},
    domains: raw.domains ?? {},
    shared: collectTexts(files, '', ['shared/']),
    results: (raw.results ?? []).map((ref) => ({ ...toRef(ref), folder: ref.folder ?? null })),
    firstPage: raw.first_page ? toRef(raw.first_page) : null,
    replaced: (raw.replaced ?? []).map((ref) => ({ ...toRef(ref), by: toRef(ref.by) })),
    convergence: raw.convergence ? toConvergence(raw.convergence) : null,
    workItems: (raw.work_items ?? []).map(toWorkItems),
    writerAfter: raw.writer_after ?? null,
    askStage: raw.ask_stage ?? null,
    resultStage: raw.result_stage ?? null,
    depth: raw.depth ?? 'standard',
    omitted: raw.omitted ?? [],
  };
  return { value: process, ...found };
}

/** Reads a stage on its own, with stage.yaml at the root of the folder. */
export function parseStage(files: RecipeFiles): Parsed<Stage> {
  const found: Collector = { lines: {}, issues: [] };
  const value = readStage(found, files, '');
  return { value: found.issues.length > 0 ? null : value, ...found };
}

const toRef = (ref: { stage: string; document_key: string }) => ({
  stage: ref.stage,
  documentKey: ref.document_key,
});

function toConvergence({ own_votes, ...raw }: NonNullable<ProcessFile['convergence']>) {
  return {
    ...raw,
    candidates: toRef(raw.candidates),
    ballots: toRef(raw.ballots),
    ...(own_votes === undefined ? {} : { ownVotes: own_votes }),
  };
}

function toWorkItems(raw: NonNullable<ProcessFile['work_items']>[number]) {
  return { ...toRef(raw), items: raw.items, id: raw.id, title: raw.title };
}

type Pair = { readonly from: string; readonly to: string };
const isSame = (a: Pair, b: Pair): boolean => a.from === b.from && a.to === b.to;

/** One transition for each pair of neighbours, then those that name other pairs, to be refused. */
function completeTransitions(raw: ProcessFile): Transition[] {
  const given = (raw.transitions ?? []).map((one) => ({ ...one, gate: one.gate ?? false }));
  const neighbours = raw.stages
    .slice(1)
    .map((to, index) => ({ from: raw.stages[index] ?? '', to }));
  return [
    ...neighbours.map((pair) => given.find((one) => isSame(one, pair)) ?? { ...pair, gate: false }),
    ...given.filter((one) => !neighbours.some((pair) => isSame(one, pair))),
  ];
}

function readStage(found: Collector, files: RecipeFiles, prefix: string): Stage | null {
  const raw = readYaml(found, files, `${prefix}stage.yaml`, STAGE_SCHEMA) as StageFile | null;
  const contracts: Record<string, Contract> = {};
  for (const path of [...files.keys()].toSorted()) {
    if (!path.startsWith(`${prefix}contracts/`) || !path.endsWith('.yaml')) continue;
    const contract = readYaml(found, files, path, CONTRACT_SCHEMA) as Contract | null;
    if (contract !== null) contracts[path.slice(prefix.length)] = contract;
  }
  if (raw === null) return null;
  if (prefix !== '' && prefix !== `${raw.key}/`) {
    const message = `key must be ${prefix.slice(0, -1)}, like the folder, not ${raw.key}`;
    const place = locate(found.lines, `${prefix}stage.yaml`, ['key']);
    found.issues.push({ code: 'field_invalid', message, ...place });
  }
  checkCombine(found, raw, `${prefix}stage.yaml`);
  const steps = raw.steps.map((step) => ({
    ...stepFromFile(step),
    inputs: step.inputs.map((input) => inputFromFile(input, raw.key)),
  }));
  const texts = collectTexts(files, prefix, ['prompts/', 'templates/']);
  return {
    key: raw.key,
    name: raw.name,
    description: raw.description ?? '',
    lanes: raw.lanes ?? 'all',
    seedPrompt: raw.seed_prompt ?? null,
    ...expandCombine(raw.key, raw.steps, { steps, contracts, files: texts }),
    origin: raw.origin ?? null,
  };
}

/** What can be combined: documents of which a job gets several, whichever branch they belong to. */
function checkCombine(found: Collector, raw: StageFile, file: string): void {
  for (const [at, step] of raw.steps.entries()) {
    for (const [index, input] of step.inputs.entries()) {
      if (input.combine !== true) continue;
      const { type, multiple, join, iteration, name, document_key } = input;
      const isDriver = step.for_each !== undefined && step.for_each === (name ?? document_key);
      const isSeveral = multiple === true && join !== 'lineage' && iteration !== 'previous';
      if ((type === 'document' || type === 'contribution') && isSeveral && !isDriver) continue;
      const message = `step ${step.key}: combine takes documents with multiple: true of this pass, without join: lineage, that for_each does not name`;
      const place = locate(found.lines, file, ['steps', at, 'inputs', index, 'combine']);
      found.issues.push({ code: 'field_invalid', message, ...place });
    }
  }
}

function readYaml(
  found: Collector,
  files: RecipeFiles,
  path: string,
  schema: Parameters<typeof parseYamlFile>[2],
): unknown {
  const text = files.get(path);
  if (text === undefined) {
    const message = `${path} does not exist`;
    found.issues.push({ code: 'file_missing', message, file: path, line: 1, field: '' });
    return null;
  }
  const parsed = parseYamlFile(path, text, schema);
  found.lines[path] = parsed.lines;
  found.issues.push(...parsed.issues);
  return parsed.issues.length > 0 ? null : parsed.value;
}

function collectTexts(
  files: RecipeFiles,
  prefix: string,
  folders: readonly string[],
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const path of [...files.keys()].toSorted()) {
    const local = path.slice(prefix.length);
    const wanted = folders.some((folder) => local.startsWith(folder)) && local.endsWith('.md');
    if (path.startsWith(prefix) && wanted) texts[local] = files.get(path) ?? '';
  }
  return texts;
}
