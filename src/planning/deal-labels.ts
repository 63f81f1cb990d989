import { hash } from 'node:crypto';
import { findBallotStep, rivalsInput } from '../recipe/ballot.ts';
import type { Process } from '../recipe/types.ts';
import { compareText } from './document-index.ts';
import type { PlannedInput, PlanRequest, SourceDocument } from './types.ts';

/** The label of the n-th rival in a blind prompt: A, B, … Z, AA. */
export function optionLabel(index: number): string {
  const letter = String.fromCodePoint(65 + (index % 26));
  return index < 26 ? letter : optionLabel(Math.floor(index / 26) - 1) + letter;
}

/**
 * The rivals in the order of their labels on one ballot: a shuffle that the seed, the pass and the
 * voting lane decide, so that no lane is always A. The planned job records the order. A recorded
 * ballot that is replayed with the same seed in another session meets the same labels.
 */
export function dealLabels(
  rivals: readonly SourceDocument[],
  { labelSeed = '', iteration, lane }: PlanRequest,
): SourceDocument[] {
  const draw = (rival: SourceDocument): string =>
    hash('sha256', [labelSeed, iteration, lane.ordinal, rival.identity].join('\n'), 'hex');
  return rivals
    .map((rival) => ({ rival, drawn: draw(rival) }))
    .toSorted((a, b) => compareText(a.drawn, b.drawn))
    .map(({ rival }) => rival);
}

/** The ids of the rivals on a ballot with these inputs, in the order of their labels. */
export function rivalsByLabel(
  process: Process,
  inputs: readonly PlannedInput[],
): readonly string[] {
  const step = findBallotStep(process);
  const name = step && rivalsInput(process, step)?.name;
  return inputs.find((input) => input.name === name)?.ids ?? [];
}
