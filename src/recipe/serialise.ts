import { stringify } from 'yaml';
import { defaultName, type InputFile, type ProcessFile, type StageFile } from './file-shape.ts';
import type {
  Convergence,
  Process,
  Replacement,
  ResultRef,
  Stage,
  Step,
  StepInput,
  WorkItems,
} from './types.ts';

/** The files of a process; parseProcess reads them back to an equal process. */
export function processToFiles(process: Process): Map<string, string> {
  const files = new Map<string, string>([['process.yaml', toYaml(processFile(process))]]);
  for (const [path, text] of Object.entries(process.shared)) files.set(path, text);
  for (const stage of process.stages) {
    for (const [path, text] of stageToFiles(stage)) files.set(`${stage.key}/${path}`, text);
  }
  return files;
}

/** The files of one stage, with stage.yaml at the root. */
export function stageToFiles(stage: Stage): Map<string, string> {
  const files = new Map<string, string>([['stage.yaml', toYaml(stageFile(stage))]]);
  for (const [path, contract] of Object.entries(stage.contracts)) files.set(path, toYaml(contract));
  for (const [path, text] of Object.entries(stage.files)) files.set(path, text);
  return files;
}

/** YAML in the layout of all files that we write. */
export const toYaml = (value: unknown): string => stringify(value, { lineWidth: 100 });

/** process.yaml as the program writes it, without defaults. */
export function processFile(process: Process): ProcessFile {
  const { convergence, workItems, firstPage, replaced } = process;
  const gates = process.transitions.filter(
    (one, index) => one.gate || !isNeighbour(process, index),
  );
  return {
    key: process.key,
    name: process.name,
    ...(process.description === '' ? {} : { description: process.description }),
    stages: process.stages.map((stage) => stage.key),
    ...(gates.length === 0 ? {} : { transitions: gates }),
    ...(isEmpty(process.overlay) ? {} : { overlay: process.overlay }),
    ...(isEmpty(process.domains) ? {} : { domains: process.domains }),
    ...(process.results.length === 0 ? {} : { results: process.results.map(resultFile) }),
    ...(firstPage === null ? {} : { first_page: toRefFile(firstPage) }),
    ...(replaced.length === 0 ? {} : { replaced: replaced.map(replacementFile) }),
    ...(convergence === null
      ? {}
      : {
          convergence: convergenceFile(convergence),
        }),
    ...(workItems.length === 0 ? {} : { work_items: workItems.map(workItemsFile) }),
    ...(process.writerAfter === null ? {} : { writer_after: process.writerAfter }),
    ...(process.askStage === null ? {} : { ask_stage: process.askStage }),
    ...(process.resultStage === null ? {} : { result_stage: process.resultStage }),
    ...(process.depth === 'standard' ? {} : { depth: process.depth }),
    ...(process.omitted.length === 0 ? {} : { omitted: process.omitted }),
  };
}

const replacementFile = ({ by, ...ref }: Replacement) => ({
  ...toRefFile(ref),
  by: toRefFile(by),
});

function convergenceFile({ ownVotes, ...convergence }: Convergence) {
  return {
    ...convergence,
    candidates: toRefFile(convergence.candidates),
    ballots: toRefFile(convergence.ballots),
    ...(ownVotes === undefined ? {} : { own_votes: ownVotes }),
  };
}

function isNeighbour(process: Process, index: number): boolean {
  const transition = process.transitions[index];
  const from = process.stages.findIndex((stage) => stage.key === transition?.from);
  return process.stages[from + 1]?.key === transition?.to;
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

const toRefFile = (ref: { stage: string; documentKey: string }) => ({
  stage: ref.stage,
  document_key: ref.documentKey,
});

const resultFile = (ref: ResultRef) => ({
  ...toRefFile(ref),
  ...(ref.folder === null ? {} : { folder: ref.folder }),
});

const workItemsFile = ({ items, id, title, ...ref }: WorkItems) => ({
  ...toRefFile(ref),
  items,
  id,
  title,
});

/** stage.yaml as the program writes it. */
export function stageFile(stage: Stage): StageFile {
  return {
    key: stage.key,
    name: stage.name,
    ...(stage.description === '' ? {} : { description: stage.description }),
    ...(stage.lanes === 'all' ? {} : { lanes: stage.lanes }),
    ...(stage.seedPrompt === null ? {} : { seed_prompt: stage.seedPrompt }),
    ...(stage.origin === null ? {} : { origin: stage.origin }),
    steps: stage.steps.map((step) => stepFile(step, stage.key)),
  };
}

function stepFile(step: Step, stageKey: string): StageFile['steps'][number] {
  const { output, continuation } = step;
  return {
    key: step.key,
    name: step.name,
    job_type: step.jobType,
    granularity: step.granularity,
    ...(step.forEach === null ? {} : { for_each: step.forEach }),
    ...(step.prompt === null ? {} : { prompt: step.prompt }),
    ...(step.compute === null ? {} : { compute: step.compute }),
    ...(step.checks.length === 0 ? {} : { checks: step.checks }),
    ...(step.extends === null ? {} : { extends: step.extends }),
    ...(step.rewrites === null ? {} : { rewrites: step.rewrites }),
    ...(step.alone === 'run' ? {} : { alone: step.alone }),
    ...(step.onUnsupported === undefined ? {} : { on_unsupported: step.onUnsupported }),
    inputs: step.inputs.map((input) => inputFile(input, stageKey)),
    output: {
      kind: output.kind,
      document_key: output.documentKey,
      contract: output.contract,
      ...(output.template === null ? {} : { template: output.template }),
    },
    ...(step.after.length === 0 ? {} : { after: step.after }),
    ...(step.dependencyPolicy === 'all' ? {} : { dependency_policy: step.dependencyPolicy }),
    ...(step.quorum === null ? {} : { quorum: step.quorum }),
    continuation: {
      max_turns: continuation.maxTurns,
      max_idle_turns: continuation.maxIdleTurns,
      max_chars: continuation.maxChars,
    },
    ...(step.skip ? { skip: true } : {}),
    ...(step.origin === null ? {} : { origin: step.origin }),
  };
}

function inputFile(input: StepInput, stageKey: string): InputFile {
  return {
    ...(input.name === defaultName(input) ? {} : { name: input.name }),
    type: input.type,
    ...(input.stage === null || input.stage === stageKey ? {} : { stage: input.stage }),
    ...(input.documentKey === null ? {} : { document_key: input.documentKey }),
    ...(input.scope === 'own' ? {} : { scope: input.scope }),
    ...(input.iteration === 'current' ? {} : { iteration: input.iteration }),
    ...(input.multiple ? { multiple: true } : {}),
    ...(input.required ? {} : { required: false }),
    ...(input.relevance === 1 ? {} : { relevance: input.relevance }),
    ...(input.join === null ? {} : { join: input.join }),
    ...(input.shown === false ? { shown: false } : {}),
  };
}
