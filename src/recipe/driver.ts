import { isProduced } from './edges.ts';
import type { Granularity, Step, StepInput } from './types.ts';

const DRIVEN: readonly Granularity[] = [
  'per_source_document',
  'pairwise_by_origin',
  'per_source_group',
];

/** Whether the granularity fans out over one input. */
export const needsDriver = (step: Step): boolean => DRIVEN.includes(step.granularity);

/** Whether an input can be what a step fans out over. */
export const canDrive = (input: StepInput): boolean =>
  isProduced(input) && input.required && input.iteration === 'current';

/** The input that a step fans out over: the named one, else the only one that can be. */
export function driverOf(step: Step): StepInput | undefined {
  if (!needsDriver(step)) return undefined;
  if (step.forEach !== null) return step.inputs.find((input) => input.name === step.forEach);
  const candidates = step.inputs.filter(canDrive);
  const headers = candidates.filter((input) => input.type === 'header_context');
  if (headers.length > 0) return headers.length === 1 ? headers[0] : undefined;
  return candidates.length === 1 ? candidates[0] : undefined;
}
