import type { Command } from 'commander';
import type { ModelCheck } from '../models/preflight.ts';
import { tell } from './output.ts';

export type PreflightOptions = { preflight?: boolean };

export const addPreflightOption = (command: Command): Command =>
  command.option('--no-preflight', 'start without asking each model whether it can be used');

/** Tells what the models answered before a run; nothing where none had to be asked. */
export function tellChecks(checks: readonly ModelCheck[]): void {
  for (const line of describeChecks(checks)) tell(line);
}

function describeChecks(checks: readonly ModelCheck[]): string[] {
  const doubts = checks.filter(({ doubt }) => doubt !== null);
  const sure = checks.filter(({ doubt }) => doubt === null);
  return [
    ...(sure.length === 0 ? [] : [`Reachable: ${sure.map(describeCheck).join(', ')}`]),
    ...doubts.map(({ model, doubt }) => `Not sure of ${model}: it ${doubt}. The run goes on.`),
  ];
}

function describeCheck({ model, costUsd }: ModelCheck): string {
  if (costUsd === 0) return model;
  const cost = costUsd === null ? 'its price is unknown' : `$${costUsd.toFixed(6)}`;
  return `${model} (asked by a call of a few tokens: ${cost})`;
}
