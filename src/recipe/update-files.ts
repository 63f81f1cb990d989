import { parse } from 'yaml';
import { isSame } from '../text/canonical-json.ts';
import { editYaml } from '../text/edit-yaml.ts';
import { parseProcess } from './parse.ts';
import { processFile, processToFiles, stageFile, stageToFiles, toYaml } from './serialise.ts';
import type { Process, Stage, Transition } from './types.ts';
import { hashProcess, hashStage } from './version.ts';

type Files = ReadonlyMap<string, string>;

type FilesUpdate = {
  readonly files: Files;
  /** What the files say. */
  readonly before: Process;
  readonly after: Process;
  /** Stages of `after` that `before` lacks, as `sources` says them. */
  readonly added: readonly Stage[];
  /** Texts of other recipes by the path that they would have here: they bring their comments. */
  readonly sources: Files;
};

/** The files of a changed process; what stays keeps its text, comments and layout included. */
export function updateFiles(update: FilesUpdate): Map<string, string> {
  const { before, after, added, sources } = update;
  const files = new Map(update.files);
  for (const [path, text] of sources) {
    if (added.some((stage) => path.startsWith(`${stage.key}/`))) files.set(path, text);
  }
  const result = new Map(files);
  const manifest = files.get('process.yaml') ?? '';
  const said = (process: Process): unknown => spellTransitions(manifest, process);
  result.set('process.yaml', editYaml(manifest, said(before), said(after)));
  updateTexts(result, '', before.shared, after.shared);
  for (const { key } of before.stages) {
    if (after.stages.some((stage) => stage.key === key)) continue;
    for (const path of files.keys()) if (path.startsWith(`${key}/`)) result.delete(path);
  }
  for (const stage of after.stages) {
    const old = [...before.stages, ...added].find((one) => one.key === stage.key);
    if (old) updateStage(result, old, stage, sources);
    else for (const [path, text] of stageToFiles(stage)) result.set(`${stage.key}/${path}`, text);
  }
  return spellOut(result, after);
}

/** process.yaml may list transitions without a gate, which the program itself leaves out. */
function spellTransitions(manifest: string, process: Process): unknown {
  const { transitions: listed } = parse(manifest, { logLevel: 'error' }) as {
    transitions?: Transition[];
  };
  if (listed === undefined) return processFile(process);
  const transitions = process.transitions.filter(
    ({ from, to, gate }) => gate || listed.some((one) => one.from === from && one.to === to),
  );
  return { ...processFile(process), transitions };
}

function updateStage(files: Map<string, string>, old: Stage, stage: Stage, sources: Files): void {
  const prefix = `${stage.key}/`;
  const path = `${prefix}stage.yaml`;
  files.set(path, editYaml(files.get(path) ?? '', stageFile(old), stageFile(stage)));
  updateTexts(files, prefix, old.files, stage.files);
  const changed = Object.entries(stage.contracts).filter(
    ([name, contract]) => !isSame(contract, old.contracts[name]),
  );
  const texts = Object.fromEntries(
    changed.map(([name, contract]) => [name, sources.get(prefix + name) ?? toYaml(contract)]),
  );
  for (const [name, text] of Object.entries(texts)) files.set(prefix + name, text);
  for (const name of Object.keys(old.contracts)) {
    if (!Object.hasOwn(stage.contracts, name)) files.delete(prefix + name);
  }
}

function updateTexts(
  files: Map<string, string>,
  prefix: string,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): void {
  for (const name of Object.keys(before))
    if (!Object.hasOwn(after, name)) files.delete(prefix + name);
  for (const [name, text] of Object.entries(after)) files.set(prefix + name, text);
}

/** YAML with aliases or merge keys may not be editable in place; such files are written anew. */
function spellOut(files: Map<string, string>, after: Process): Map<string, string> {
  const { value } = parseProcess(files);
  if (value !== null && hashProcess(value) === hashProcess(after)) return files;
  const kept = new Set(
    after.stages.flatMap((stage) =>
      value?.stages.some((one) => hashStage(one) === hashStage(stage)) ? stage.key : [],
    ),
  );
  for (const [path, text] of processToFiles(after)) {
    if (path.endsWith('.yaml') && !kept.has(path.split('/')[0]!)) files.set(path, text);
  }
  return files;
}
