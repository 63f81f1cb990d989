import { DialecticError } from '../errors/errors.ts';
import { activeSteps, isProduced, stageOf, stepOf } from '../recipe/edges.ts';
import { forkStage, insertStage, overrideStep, type Position } from '../recipe/edit.ts';
import { inputFromFile } from '../recipe/file-shape.ts';
import { processOfStage } from '../recipe/lone-stage.ts';
import { parseProcess, parseStage, type RecipeFiles } from '../recipe/parse.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { updateFiles } from '../recipe/update-files.ts';
import { requireParsed, requireValid } from '../recipe/validate.ts';
import { validateForRun } from './validate-for-run.ts';

/** A step that reads documents of an inserted stage. */
type Wiring = {
  readonly stage: string;
  readonly step: string;
  readonly documents: readonly string[];
};

export type InsertedStage = {
  readonly process: Process;
  readonly files: Map<string, string>;
  readonly wiring: readonly Wiring[];
};

const LANES = [1, 2, 3];

/**
 * Copies a stage of its own folder into the folder of a process and lets the stage behind it read
 * what the new one hands on. Refuses a result that would not run.
 */
export function insertStageFiles(
  files: RecipeFiles,
  stageFiles: RecipeFiles,
  position: Position,
): InsertedStage {
  const process = requireParsed(parseProcess(files));
  const stage = requireParsed(parseStage(stageFiles));
  const noted = forkStage(processOfStage(stage), stage.key).stages[0]!;
  const inserted = insertStage(process, noted, position);
  for (const lanes of LANES) requireValid(validateForRun(inserted, lanes));
  const { process: wired, wiring } = wireStage(inserted, stage.key);
  const sources = new Map([...stageFiles].map(([path, text]) => [`${stage.key}/${path}`, text]));
  const update = { files, before: process, after: wired, added: [stage], sources };
  return { process: wired, files: updateFiles(update), wiring };
}

function wireStage(process: Process, key: string): { process: Process; wiring: Wiring[] } {
  const at = process.stages.findIndex((stage) => stage.key === key);
  const next = process.stages[at + 1];
  const documents = handedOn(process.stages[at]!);
  if (!next || documents.length === 0) return { process, wiring: [] };
  const wiring = entrySteps(next).map((step) => ({ stage: next.key, step: step.key, documents }));
  const wired = wiring.reduce(
    (whole, { step }) => wireStep(whole, key, next.key, step, documents),
    process,
  );
  return { process: wired, wiring };
}

/**
 * Documents that no step of the stage reads from all lanes: what is merged lives on in the merge. What
 * a search found lives on in what was written about it.
 */
function handedOn(stage: Stage): string[] {
  const steps = activeSteps(stage);
  const merged = steps.flatMap((step) =>
    step.inputs.filter((input) => input.stage === stage.key && input.scope === 'all'),
  );
  return steps
    .filter((step) => step.output.kind === 'document' && step.compute !== 'search')
    .map((step) => step.output.documentKey)
    .filter((key) => !merged.some((input) => input.documentKey === key));
}

/** The steps that a stage begins with: they ask a model and read nothing that the stage makes. */
const entrySteps = (stage: Stage): Step[] =>
  activeSteps(stage).filter(
    (step) =>
      step.prompt !== null &&
      !step.inputs.some(
        (input) => isProduced(input) && input.stage === stage.key && input.iteration === 'current',
      ),
  );

/** From the strictest to the loosest way to read a document of another stage. */
const WAYS = [{}, { multiple: true }, { multiple: true, required: false, join: 'all' }] as const;

function wireStep(
  process: Process,
  from: string,
  stageKey: string,
  stepKey: string,
  documents: readonly string[],
): Process {
  const stage = stageOf(process, stageKey);
  const { inputs } = stepOf(stage, stepKey);
  for (const way of WAYS) {
    const added = documents.map((document_key) =>
      inputFromFile(
        { type: 'document', stage: from, document_key, relevance: 0.8, ...way },
        stageKey,
      ),
    );
    const wired = overrideStep(process, stageKey, stepKey, { inputs: [...inputs, ...added] });
    if (LANES.every((lanes) => validateForRun(wired, lanes).length === 0)) return wired;
  }
  throw new DialecticError(
    'recipe_conflict',
    `Step ${stepKey} of ${stageKey} cannot read ${documents.join(', ')} of ${from}; add the input by hand.`,
  );
}
