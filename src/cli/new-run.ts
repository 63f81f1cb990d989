import type { Command } from 'commander';
import { DialecticError } from '../platform/errors.ts';
import { readTextFolder } from '../platform/folders.ts';
import { findRecipe } from '../platform/recipe-folders.ts';
import { configureProcess } from '../recipe/configure-process.ts';
import { DEPTHS, type Depth } from '../recipe/types.ts';
import { loadProcess } from '../recipe/validate.ts';
import type { NewRun } from '../session/start.ts';
import { readBrief, readResource } from './brief.ts';

/** What `run` and `estimate` are told alike. */
export type NewRunOptions = {
  model: string[];
  process: string;
  until?: string;
  resource: string[];
  writer?: string;
  domain?: string;
  name?: string;
  depth: string;
  ask?: boolean;
  result: boolean;
  shortcuts: boolean;
};

const OFFLINE_MODELS = ['offline/builder', 'offline/skeptic'];

/** The options that say how much of the process a run goes through, and how deep. */
export const addScopeOptions = (command: Command): Command =>
  command
    .option('--depth <depth>', 'how much is written: brief, standard or full', 'standard')
    .option('--ask', 'ask first: wait with the questions whose answers would change the plan')
    .option('--no-result', 'leave the result stage out')
    .option('--no-shortcuts', 'call a model also where there is nothing to merge or to rank');

function readDepth(text: string): Depth {
  const depth = DEPTHS.find((one) => one === text);
  if (depth) return depth;
  throw new DialecticError('usage_invalid', `--depth takes ${DEPTHS.join(', ')}, not ${text}.`);
}

/** Options that may be given several times. */
export const collect = (value: string, before: string[]): string[] => [...before, value];

/** Reads the files that a command names into a run that could be started. */
export async function prepareRun(
  briefPath: string,
  options: NewRunOptions,
): Promise<Omit<NewRun, 'tenantId'>> {
  const { name, brief } = await readBrief(briefPath);
  const resources = await Promise.all(options.resource.map(readResource));
  const { folder } = await findRecipe(options.process);
  const models = options.model.length > 0 ? options.model : OFFLINE_MODELS;
  return {
    name: options.name ?? name,
    domain: options.domain ?? null,
    brief,
    resources,
    process: configureProcess(loadProcess(await readTextFolder(folder)), {
      depth: readDepth(options.depth),
      ask: options.ask ?? false,
      result: options.result,
      shortcuts: options.shortcuts,
      laneCount: models.length,
    }),
    models,
    untilStage: options.until ?? null,
    writer: options.writer ? findWriter(models, options.writer) : null,
  };
}

function findWriter(models: readonly string[], writer: string): number {
  const at = models.indexOf(writer);
  if (at >= 0) return at + 1;
  throw new DialecticError('usage_invalid', `${writer} takes no part in this run.`);
}
