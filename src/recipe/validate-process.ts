import { followPath } from '../text/dotted-path.ts';
import type { JsonPath } from '../text/json-path.ts';
import { findBallotStep, rivalsInput, showsOneLane } from './ballot.ts';
import { activeSteps, findStage } from './edges.ts';
import type { ContractNode, DocumentRef, Process } from './types.ts';
import type { Validation } from './validate.ts';

const FILE = 'process.yaml';

/** Checks what process.yaml says: the stages, their order, and the documents that it names. */
export function checkProcessFile(validation: Validation): void {
  const { process, add } = validation;
  const keys = process.stages.map((stage) => stage.key);
  for (const [index, key] of keys.entries()) {
    if (keys.indexOf(key) < index) {
      add('duplicate_key', FILE, ['stages', index], `the stage ${key} is listed twice`);
    }
  }
  checkTransitions(validation, keys);
  for (const [index, ref] of process.results.entries()) {
    requireDocument(validation, ref, ['results', index]);
  }
  checkConvergence(validation);
  if (process.firstPage !== null) requireDocument(validation, process.firstPage, ['first_page']);
  for (const [index, ref] of process.replaced.entries()) {
    requireDocument(validation, ref, ['replaced', index]);
    requireDocument(validation, ref.by, ['replaced', index, 'by']);
  }
  for (const [index, one] of process.workItems.entries()) {
    const { items, id, title } = one;
    checkRecordList(validation, one, ['work_items', index], 'items', items, { id, title });
  }
  checkNamedStages(validation, keys);
  checkWriterAfter(validation, keys);
}

function checkWriterAfter({ process, add }: Validation, keys: readonly string[]): void {
  const { writerAfter } = process;
  if (writerAfter === null) return;
  if (!keys.includes(writerAfter)) {
    add('reference_unknown', FILE, ['writer_after'], `there is no stage ${writerAfter}`);
  } else if (keys.at(-1) === writerAfter) {
    const message = `${writerAfter} is the last stage; nothing is left for one lane alone`;
    add('transition_invalid', FILE, ['writer_after'], message);
  }
}

/** The stages that a run may leave out exist, and somebody is chosen before a chosen lane works. */
function checkNamedStages({ process, add }: Validation, keys: readonly string[]): void {
  for (const [field, stage] of [
    ['ask_stage', process.askStage],
    ['result_stage', process.resultStage],
  ] as const) {
    if (stage === null || keys.includes(stage)) continue;
    add('reference_unknown', FILE, [field], `there is no stage ${stage}`);
  }
  const voted = keys.indexOf(process.convergence?.ballots.stage ?? '');
  for (const [at, stage] of process.stages.entries()) {
    if (stage.lanes === 'all' || (voted >= 0 && voted < at)) continue;
    const message = `lanes: chosen needs a convergence whose ballots come before ${stage.key}`;
    add('field_invalid', `${stage.key}/stage.yaml`, ['lanes'], message);
  }
}

function checkTransitions({ process, add }: Validation, keys: readonly string[]): void {
  const seen = new Set<string>();
  for (const { from, to } of process.transitions) {
    const pair = `${from} → ${to}`;
    const at = keys.indexOf(from);
    if (at < 0 || keys[at + 1] !== to) {
      const message = `the transition ${pair} does not join two neighbours of stages`;
      add('transition_invalid', FILE, ['transitions'], message);
    } else if (seen.has(pair)) {
      add('duplicate_key', FILE, ['transitions'], `the transition ${pair} is listed twice`);
    }
    seen.add(pair);
  }
}

function checkConvergence(validation: Validation): void {
  const { convergence } = validation.process;
  if (convergence === null) return;
  requireDocument(validation, convergence.candidates, ['convergence', 'candidates']);
  const { ballots, rankings, option, rank } = convergence;
  checkRecordList(validation, ballots, ['convergence', 'ballots'], 'rankings', rankings, {
    option,
    rank,
  });
  checkBallotStep(validation);
}

/** A ballot is blind if what its step is shown is the same in every lane. */
function checkBallotStep({ process, add }: Validation): void {
  const { ballots, candidates } = process.convergence!;
  const step = findBallotStep(process);
  if (step === undefined) return;
  const index = findStage(process, ballots.stage)!.steps.indexOf(step);
  const file = `${ballots.stage}/stage.yaml`;
  if (rivalsInput(process, step) === undefined) {
    const message =
      `step ${step.key}: it ranks ${candidates.documentKey} of every lane, but has no input ` +
      'that shows it with scope: all, multiple: true and, in a fan-out, join: all';
    add('ballot_not_blind', file, ['steps', index, 'inputs'], message);
  }
  for (const [at, input] of step.inputs.entries()) {
    if (!showsOneLane(process, step, input)) continue;
    const message =
      `step ${step.key}: ${input.name} differs between lanes and tells a voter which of the ` +
      'rivals is its own; use scope: all (and join: all in a fan-out), or shown: false';
    add('ballot_not_blind', file, ['steps', index, 'inputs', at], message);
  }
}

/** The named path must lead to a list of records that have the named fields. */
function checkRecordList(
  validation: Validation,
  ref: DocumentRef,
  path: JsonPath,
  pathField: string,
  dotted: string,
  fields: Readonly<Record<string, string>>,
): void {
  const contract = requireDocument(validation, ref, path);
  if (contract === undefined) return;
  const base = path.filter((part) => part !== 'ballots');
  const list = followPath(contract, dotted);
  const known = list?.items?.properties;
  if (known === undefined) {
    const message = `${dotted} is not a list of records in the contract of ${ref.documentKey}`;
    validation.add('reference_unknown', FILE, [...base, pathField], message);
    return;
  }
  for (const [name, field] of Object.entries(fields)) {
    if (Object.hasOwn(known, field)) continue;
    const message = `${field} is not a field of ${dotted} in ${ref.documentKey}`;
    validation.add('reference_unknown', FILE, [...base, name], message);
  }
}

function requireDocument(
  { process, add }: Validation,
  ref: DocumentRef,
  path: JsonPath,
): ContractNode | undefined {
  const contract = findContract(process, ref);
  if (contract === undefined) {
    const message = `no step makes ${ref.stage}/${ref.documentKey}`;
    add('reference_unknown', FILE, [...path, 'document_key'], message);
  }
  return contract;
}

function findContract(process: Process, ref: DocumentRef): ContractNode | undefined {
  const stage = findStage(process, ref.stage);
  const step =
    stage && activeSteps(stage).find((one) => one.output.documentKey === ref.documentKey);
  return step && stage.contracts[step.output.contract];
}
