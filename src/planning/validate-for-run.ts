import { DialecticError } from '../errors/errors.ts';
import { driverOf } from '../recipe/driver.ts';
import { parseProcess } from '../recipe/parse.ts';
import { processToFiles } from '../recipe/serialise.ts';
import type { LineIndex, Process, RecipeIssue, Step, StepInput } from '../recipe/types.ts';
import { validateProcess } from '../recipe/validate.ts';
import { locate } from '../recipe/yaml-file.ts';
import { type SimulationOptions, simulateProcess } from './simulate.ts';

type ValidationOptions = SimulationOptions & { readonly lines?: LineIndex };

/**
 * What would stop this process with this many lanes, before the first call: the recipe's defects,
 * then a dry run of the planners. Too many calls are refused with plan_too_large.
 */
export function validateForRun(
  process: Process,
  laneCount: number,
  options: ValidationOptions = {},
): RecipeIssue[] {
  const issues = validateProcess(process, options.lines);
  return issues.length > 0 ? issues : findPlanDefects(process, laneCount, options);
}

/**
 * Every input that the planners could not fill in a dry run. An input that fails is loosened until
 * it passes, so that the steps behind it are planned, too, and report their own defects.
 */
export function findPlanDefects(
  process: Process,
  laneCount: number,
  options: ValidationOptions = {},
): RecipeIssue[] {
  const issues: RecipeIssue[] = [];
  let lines = options.lines;
  let loosened = process;
  for (;;) {
    const failure = tryPlanning(loosened, laneCount, options);
    if (failure === null) return issues;
    lines ??= parseProcess(processToFiles(process)).lines;
    const issue = toIssue(process, failure, lines);
    if (issues.some(({ file, field }) => file === issue.file && field === issue.field)) {
      return issues; // loosening it did not help, so nothing behind it can be planned
    }
    issues.push(issue);
    loosened = loosenInput(loosened, failure);
  }
}

function tryPlanning(
  process: Process,
  laneCount: number,
  options: SimulationOptions,
): DialecticError | null {
  try {
    simulateProcess(process, laneCount, options);
    return null;
  } catch (thrown) {
    if (thrown instanceof DialecticError && thrown.code === 'plan_inputs_missing') return thrown;
    throw thrown;
  }
}

/** The process with the input that a failure names as one that takes what there is. */
function loosenInput(process: Process, { details }: DialecticError): Process {
  const loosen = (step: Step): Step => {
    const driver = driverOf(step)?.name;
    const inputs = step.inputs.map((input): StepInput => {
      if (input.name !== details['input']) return input;
      // Without its driver a step could not be planned at all.
      return { ...input, required: input.name === driver, multiple: true, join: 'all' };
    });
    return { ...step, inputs };
  };
  const stages = process.stages.map((stage) => ({
    ...stage,
    steps: stage.steps.map((step) =>
      stage.key === details['stage'] && step.key === details['step'] ? loosen(step) : step,
    ),
  }));
  return { ...process, stages };
}

function toIssue(process: Process, error: DialecticError, lines: LineIndex): RecipeIssue {
  const { stage: stageKey, step: stepKey, input: inputName, reason } = error.details;
  const steps = process.stages.find((stage) => stage.key === stageKey)?.steps ?? [];
  const stepAt = steps.findIndex((step) => step.key === stepKey);
  const inputAt = steps[stepAt]?.inputs.findIndex((input) => input.name === inputName) ?? -1;
  const ambiguous = reason === 'ambiguous';
  const hint = ambiguous
    ? ' multiple: true lets one job have several.'
    : ' join: all gives every job what other lineages hold.';
  return {
    code: ambiguous ? 'input_ambiguous' : 'input_unsatisfied',
    message: error.message + hint,
    ...locate(lines, `${String(stageKey)}/stage.yaml`, ['steps', stepAt, 'inputs', inputAt]),
  };
}
