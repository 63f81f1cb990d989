import type { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import type { ModelsConfig } from '../models/config.ts';
import { type ModelCheck, preflightLists } from '../models/preflight.ts';
import { elapsedMs } from '../platform/clock.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';
import { tell } from './output.ts';

export type PreflightOptions = { preflight?: boolean };

export const addPreflightOption = (command: Command): Command =>
  command.option('--no-preflight', 'start without asking each model whether it can be used');

type AskStore = (dialectic: Dialectic) => Promise<readonly ModelCheck[]>;

/** From the start of the question; a call has at least a second, however long lists and store took. */
const ALL_MS = 3_500;
const LEAST_CALL_MS = 1_000;

/**
 * Asks whether a new run can use its models. The lists cost nothing and need no store; where they do
 * not decide, `withStore` opens the one whose wallet pays a short call.
 */
export async function askModels(
  models: readonly string[],
  config: ModelsConfig,
  withStore: (ask: AskStore) => ReturnType<AskStore>,
  budget: RunBudget,
): Promise<readonly ModelCheck[]> {
  const since = elapsedMs();
  const { sure, unsure, offers } = await preflightLists(models, config);
  if (unsure.length === 0) return sure;
  const asked = await withStore((dialectic) => {
    const withinMs = Math.round(Math.max(LEAST_CALL_MS, ALL_MS - (elapsedMs() - since)));
    return dialectic.preflight(unsure, { budget, withinMs, offers });
  });
  return [...sure, ...asked];
}

/** The calls that were posted for these answers, for the session to take over. */
export const callsOf = (checks: readonly ModelCheck[]): string[] =>
  checks.flatMap(({ call }) => call ?? []);

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
