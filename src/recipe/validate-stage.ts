import type { JsonPath } from '../text/json-path.ts';
import { anchorRule } from './anchor-rule.ts';
import { countLeast, MOST } from './bounds.ts';
import { canDrive, driverOf, needsDriver } from './driver.ts';
import { activeSteps, findCycle, isProduced } from './edges.ts';
import { joinOf, respondingInputs } from './joins.ts';
import type { ContractNode, IssueCode, Stage, Step, StepInput } from './types.ts';
import type { Validation } from './validate.ts';
import { checkInputs } from './validate-inputs.ts';

/** Reports a defect of one step. */
export type AddToStep = (code: IssueCode, path: JsonPath, message: string) => void;

/** Checks one stage: its steps, what they read and make, and the order that follows from it. */
export function checkStage(validation: Validation, stage: Stage, position: number): void {
  const file = `${stage.key}/stage.yaml`;
  for (const [index, step] of stage.steps.entries()) {
    const add: AddToStep = (code, path, message) =>
      validation.add(code, file, ['steps', index, ...path], `step ${step.key}: ${message}`);
    checkUnique(stage, step, index, add);
    if (step.skip) continue;
    checkShape(stage, step, add);
    checkInputs({ process: validation.process, stage, position, step, add });
    checkFanOut(validation, step, add);
    checkAnchor(step, add);
  }
  checkContracts(validation, stage);
  const cycle = findCycle(stage);
  if (cycle === null) return;
  const at = stage.steps.findIndex((step) => step.key === cycle[0]);
  const circle = [...cycle, cycle[0]].join(' → ');
  validation.add('cycle', file, ['steps', at, 'inputs'], `steps wait for each other: ${circle}`);
}

/** What a contract requires it must also describe; `x-records` stands on records. */
function checkContracts(validation: Validation, stage: Stage): void {
  const visit = (file: string, node: ContractNode, path: JsonPath): void => {
    for (const [at, name] of (node.required ?? []).entries()) {
      if (Object.hasOwn(node.properties ?? {}, name)) continue;
      const message = `${name} is required and not among the properties`;
      validation.add('field_invalid', file, [...path, 'required', at], message);
    }
    if (node['x-records'] !== undefined && (node.items ?? node).properties === undefined) {
      const message = 'stands on a list whose items have properties, or on a record that has some';
      validation.add('field_invalid', file, [...path, 'x-records'], message);
    }
    for (const [name, child] of Object.entries(node.properties ?? {})) {
      visit(file, child, [...path, 'properties', name]);
    }
    if (node.items !== undefined) visit(file, node.items, [...path, 'items']);
  };
  for (const [path, contract] of Object.entries(stage.contracts)) {
    const file = `${stage.key}/${path}`;
    const { nodes, depth } = measureContract(contract);
    if (nodes <= MOST_NODES && depth <= DEEPEST) {
      visit(file, contract, []);
      const values = countLeast(contract);
      if (values <= MOST.values) continue;
      const message = `its lists demand ${values} values in all; ${MOST.values} are the most`;
      validation.add('field_invalid', file, ['properties'], message);
    } else {
      const message = `has ${nodes} fields, ${depth} deep; ${MOST_NODES} and ${DEEPEST} are the most`;
      validation.add('field_invalid', file, ['properties'], message);
    }
  }
}

/** Contracts are compiled before an answer is checked, which takes about 1 ms for each field. */
const MOST_NODES = 1000;
const DEEPEST = 32;

function measureContract(node: ContractNode): { nodes: number; depth: number } {
  const parts = [...Object.values(node.properties ?? {}), ...(node.items ? [node.items] : [])];
  const measured = parts.map(measureContract);
  return {
    nodes: measured.reduce((sum, part) => sum + part.nodes, parts.length),
    depth: 1 + measured.reduce((most, part) => Math.max(most, part.depth), 0),
  };
}

function checkUnique(stage: Stage, step: Step, index: number, add: AddToStep): void {
  const earlier = stage.steps.slice(0, index);
  if (earlier.some((one) => one.key === step.key)) {
    add('duplicate_key', ['key'], 'another step of the stage has this key');
  }
  const { documentKey } = step.output;
  const rivals = earlier.filter((one) => !one.skip && one.output.documentKey === documentKey);
  if (!step.skip && rivals.length > 0) {
    const message = `${rivals[0]?.key} makes ${documentKey} already`;
    add('duplicate_key', ['output', 'document_key'], message);
  }
  const names = step.inputs.map((input) => input.name);
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) < at) {
      add('duplicate_key', ['inputs', at], `two inputs are called ${name}; give one a name`);
    }
  }
}

function checkShape(stage: Stage, step: Step, add: AddToStep): void {
  const wanted = step.jobType === 'PLAN' ? 'header_context' : 'document';
  if (step.output.kind !== wanted) {
    const message = `a step of job type ${step.jobType} makes a ${wanted}`;
    add('field_invalid', ['output', 'kind'], message);
  }
  if (stage.contracts[step.output.contract] === undefined) {
    const message = `${step.output.contract} does not exist`;
    add('file_missing', ['output', 'contract'], message);
  }
  if ((step.prompt === null) === (step.compute === null)) {
    add('field_invalid', ['prompt'], 'a step has either a prompt or compute');
  }
  const [first] = step.inputs;
  const isMade = first?.type === 'document' || first?.type === 'contribution';
  if (step.compute === 'print' && !(isMade && first.required && !first.multiple)) {
    const message = 'print needs the document that it prints as its first input, required';
    add('field_invalid', ['compute'], message);
  }
  if (step.compute !== null && step.onUnsupported !== undefined) {
    add('field_invalid', ['on_unsupported'], 'on_unsupported has no meaning without a prompt');
  }
  for (const field of ['extends', 'rewrites'] as const) {
    if (step[field] !== null && !step.inputs.some(({ name }) => name === step[field])) {
      const message = `${field} names ${step[field]}, which is not an input`;
      add('reference_unknown', [field], message);
    }
  }
  if (step.extends !== null && step.rewrites !== null) {
    add('field_invalid', ['rewrites'], 'a step either extends a document or rewrites one');
  }
  const known = activeSteps(stage).map((one) => one.key);
  for (const [index, key] of step.after.entries()) {
    if (!known.includes(key)) {
      add('reference_unknown', ['after', index], `the stage has no step ${key} that runs`);
    }
  }
  if (step.quorum !== null && step.dependencyPolicy !== 'quorum') {
    add('field_invalid', ['quorum'], 'quorum has no meaning without dependency_policy: quorum');
  }
}

function checkFanOut(validation: Validation, step: Step, add: AddToStep): void {
  if (!needsDriver(step)) {
    const byLineage = step.granularity === 'per_source_document_by_lineage';
    if (step.forEach !== null) {
      add('driver_invalid', ['for_each'], `${step.granularity} has no driver`);
    }
    const grouped = (input: StepInput): boolean =>
      canDrive(input) && joinOf(validation.process, step, input) === 'lineage';
    if (byLineage && !step.inputs.some(grouped)) {
      add('driver_invalid', ['inputs'], 'there is no required document to take lineages from');
    }
    return;
  }
  const driver = driverOf(step);
  if (driver === undefined) {
    const message =
      step.forEach === null
        ? `${step.granularity} needs for_each: several inputs, or none, could drive it`
        : `for_each names ${step.forEach}, which is not an input`;
    add('driver_invalid', ['for_each'], message);
  } else if (!canDrive(driver)) {
    const message = `${driver.name} cannot drive: it must be required, current and made by a step`;
    add('driver_invalid', ['for_each'], message);
  } else if (step.granularity === 'pairwise_by_origin') {
    const responses = respondingInputs(validation.process, step);
    if (!responses.some((input) => input.required && input.type !== 'feedback')) {
      const message = `no required input of scope all answers ${driver.name}`;
      add('driver_invalid', ['inputs'], message);
    }
  }
}

function checkAnchor(step: Step, add: AddToStep): void {
  if (step.jobType === 'EXECUTE' && !step.inputs.some(isProduced)) {
    const message =
      'it reads neither a document nor a header_context, so nothing can be its anchor; ' +
      'add a step of job type PLAN and read its header_context';
    add('anchor_missing', ['inputs'], message);
  }
  const rule = anchorRule(step);
  if (rule.status !== 'anchor_found' || rule.ties.length === 0) return;
  const tied = [rule.input, ...rule.ties];
  const index = step.inputs.indexOf(rule.ties[0] ?? rule.input);
  const message = `${tied.map((one) => one.name).join(' and ')} tie for the anchor; lower one`;
  add('anchor_tie', ['inputs', index, 'relevance'], message);
}
