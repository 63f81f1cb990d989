import type { PlannedJob } from '../planning/types.ts';
import type { Step } from '../recipe/types.ts';
import type { JobInput } from './job-input.ts';

type Asked = {
  readonly step: Pick<Step, 'alone' | 'extends' | 'inputs'>;
  readonly planned: Pick<PlannedJob, 'documentKey'>;
  readonly inputs: readonly JobInput[];
};

/**
 * The contents that a document must not merely repeat. An earlier version of it may well be right as
 * it stands. So may the one text that a step has to merge: its recipe would copy it in a run of one
 * participant, and several participants may have written the same.
 */
export function neverRepeated({ step, planned, inputs }: Asked): unknown[] {
  const merged = inputs.filter(({ name }) => isMerged(step, name));
  const isOne = new Set(merged.map(({ content }) => JSON.stringify(content))).size === 1;
  return inputs
    .filter(
      (one) =>
        one.content !== null &&
        one.document_key !== planned.documentKey &&
        one.name !== step.extends &&
        !(isOne && merged.includes(one)),
    )
    .map(({ content }) => content);
}

const isMerged = ({ alone, inputs }: Asked['step'], name: string): boolean =>
  alone === 'copy' && inputs.some((input) => input.multiple && input.name === name);
