import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { forkStage } from './edit.ts';
import { CONTRACT_SCHEMA, PROCESS_SCHEMA, STAGE_SCHEMA } from './schemas.ts';
import { stageToFiles } from './serialise.ts';
import type { Process, Stage } from './types.ts';

/**
 * The files of a process in which the named stages note what they were copied from. All other text
 * stays as it is, comments included, so that a person can go on editing it.
 */
export function forkFiles(
  files: ReadonlyMap<string, string>,
  process: Process,
  stageKeys: readonly string[],
): Map<string, string> {
  const forked = new Map(files);
  for (const key of stageKeys) {
    const stage = forkStage(process, key).stages.find((one) => one.key === key)!;
    if (process.stages.includes(stage)) continue;
    // A stage on its own has its file at the root of the folder.
    const path = files.has('process.yaml') ? `${key}/stage.yaml` : 'stage.yaml';
    forked.set(path, noteOrigin(files.get(path) ?? '', stage));
  }
  return forked;
}

/** The text of stage.yaml with the origins of the stage and of its steps put in. */
function noteOrigin(text: string, stage: Stage): string {
  const document = parseDocument(text);
  const { contents } = document;
  const steps = document.get('steps');
  // A step that is an alias has no place of its own; such a file is written anew.
  if (!isMap(contents) || !isSeq(steps) || !steps.items.every(isMap)) {
    return stageToFiles(stage).get('stage.yaml')!;
  }
  const at = contents.items.findIndex((pair) => isScalar(pair.key) && pair.key.value === 'steps');
  contents.items.splice(at, 0, document.createPair('origin', stage.origin));
  for (const [index, step] of stage.steps.entries()) {
    document.setIn(['steps', index, 'origin'], document.createNode(step.origin));
  }
  return document.toString({ lineWidth: 100 });
}

const SCHEMAS = [
  ['process', /^process\.yaml$/, PROCESS_SCHEMA],
  ['stage', /(^|\/)stage\.yaml$/, STAGE_SCHEMA],
  ['contract', /(^|\/)contracts\/[^/]+\.yaml$/, CONTRACT_SCHEMA],
] as const;
const SCHEMA_LINE = /^# yaml-language-server: \$schema=.*$/m;

/** Adds the schemas that editors complete from, and points the first line of each file at them. */
export function withEditorSchemas(files: ReadonlyMap<string, string>): Map<string, string> {
  const result = new Map(files);
  for (const [name, pattern, schema] of SCHEMAS) {
    const home = `.schemas/${name}.schema.json`;
    result.set(home, `${JSON.stringify(schema, null, 2)}\n`);
    for (const [path, text] of files) {
      if (!pattern.test(path)) continue;
      const line = `# yaml-language-server: $schema=${'../'.repeat(depthOf(path))}${home}`;
      result.set(path, SCHEMA_LINE.test(text) ? text.replace(SCHEMA_LINE, () => line) : text);
    }
  }
  return result;
}

const depthOf = (path: string): number => path.split('/').length - 1;
