import type { Command } from 'commander';
import { defaultProcess, findRecipe } from '../catalogue/recipe-folders.ts';
import { DialecticError } from '../errors/errors.ts';
import { readTextFolder } from '../platform/folders.ts';
import { configureProcess } from '../recipe/configure-process.ts';
import { requireDomain, requireResources } from '../recipe/given.ts';
import { parseOverlay } from '../recipe/overlays.ts';
import { DEPTHS, type Depth, type Overlay } from '../recipe/types.ts';
import { loadProcess } from '../recipe/validate.ts';
import { type PlacedRun, placeRun } from '../session/project.ts';
import type { NewRun } from '../session/start.ts';
import { readBrief, readResource, readText } from './brief.ts';
import type { OpenStore } from './store.ts';

/** What `run` and `estimate` are told alike. */
export type NewRunOptions = {
  model: string[];
  process?: string;
  until?: string;
  resource: string[];
  writer?: string;
  domain?: string;
  project?: string;
  name?: string;
  depth: string;
  ask?: boolean;
  result: boolean;
  shortcuts: boolean;
  overlay?: string;
  projectOverlay?: string;
};

const OFFLINE_MODELS = ['offline/builder', 'offline/skeptic'];
export const PROCESS_HELP =
  "a shipped process or a recipe folder (default: the domain's process, else software-plan)";

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
  briefPath: string | undefined,
  options: NewRunOptions,
): Promise<NewRun> {
  const { name, brief } = await briefOf(briefPath, options);
  const resources = await Promise.all(options.resource.map(readResource));
  const { folder } = await findRecipe(options.process ?? (await defaultProcess(options.domain)));
  const models = options.model.length > 0 ? options.model : OFFLINE_MODELS;
  const process = configureProcess(loadProcess(await readTextFolder(folder)), {
    depth: readDepth(options.depth),
    ask: options.ask ?? false,
    result: options.result,
    shortcuts: options.shortcuts,
    laneCount: models.length,
  });
  const domain = options.domain ?? null;
  requireDomain(process, domain);
  requireResources(process, resources);
  return {
    project: options.project ?? null,
    name: options.name ?? name,
    domain,
    brief,
    resources,
    process,
    models,
    untilStage: options.until ?? null,
    writer: options.writer ? findWriter(models, options.writer) : null,
    overlay: await readOverlay(options.overlay),
    projectOverlay: await readOverlay(options.projectOverlay),
  };
}

/** A session of a project that exists needs no brief of its own. */
async function briefOf(path: string | undefined, { project, name }: NewRunOptions) {
  if (project !== undefined && name !== undefined) {
    throw new DialecticError('usage_invalid', 'Take --project or --name, not both.');
  }
  if (project?.trim() === '') {
    throw new DialecticError('usage_invalid', 'The name of the project is empty; give it one.');
  }
  if (path !== undefined) return readBrief(path);
  if (project !== undefined) return { name: project, brief: '' };
  throw new DialecticError('usage_invalid', 'Name the brief, or a --project that has one.');
}

async function readOverlay(path: string | undefined): Promise<Overlay | null> {
  return path === undefined ? null : parseOverlay(path, await readText(path, 'overlay'));
}

/** Completes a run from the project that it names, so that its estimate knows what it will read. */
export function place({ database, tenantId }: OpenStore, run: NewRun): Promise<PlacedRun> {
  return database.asTenant(tenantId, (tx) => placeRun(tx, run));
}

function findWriter(models: readonly string[], writer: string): number {
  const at = models.indexOf(writer);
  if (at >= 0) return at + 1;
  throw new DialecticError('usage_invalid', `${writer} takes no part in this run.`);
}
