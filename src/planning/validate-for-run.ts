import { DialecticError } from '../errors/errors.ts';
import { parseProcess } from '../recipe/parse.ts';
import { processToFiles } from '../recipe/serialise.ts';
import type { LineIndex, Process, RecipeIssue } from '../recipe/types.ts';
import { validateProcess } from '../recipe/validate.ts';
import { locate } from '../recipe/yaml-file.ts';
import { type SimulationOptions, simulateProcess } from './simulate.ts';

/**
 * What would stop this process with this many lanes, before the first call: the recipe's defects,
 * then a dry run of the planners. Too many calls are refused with plan_too_large.
 */
export function validateForRun(
  process: Process,
  laneCount: number,
  options: SimulationOptions & { readonly lines?: LineIndex } = {},
): RecipeIssue[] {
  const issues = validateProcess(process, options.lines);
  if (issues.length > 0) return issues;
  try {
    simulateProcess(process, laneCount, options);
    return [];
  } catch (thrown) {
    if (thrown instanceof DialecticError && thrown.code === 'plan_inputs_missing') {
      const lines = options.lines ?? parseProcess(processToFiles(process)).lines;
      return [toIssue(process, thrown, lines)];
    }
    throw thrown;
  }
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
