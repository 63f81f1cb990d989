import type { Command } from 'commander';
import type { RunOptions } from '../api/run-options.ts';
import { DialecticError } from '../errors/errors.ts';
import { parseOverlay } from '../recipe/parse-overlay.ts';
import { DEPTHS, type Depth, type Overlay } from '../recipe/types.ts';
import { readBrief, readResource, readText } from './brief.ts';
import { gatherPlaces } from './gather-places.ts';

/** What `run` and `estimate` are told alike. */
export type NewRunOptions = {
  model: string[];
  process?: string;
  until?: string;
  resource: string[];
  source: string[];
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
  date?: string;
};

export const SOURCE_HELP = 'what documents may cite: a file, folder or address; repeat';

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

/**
 * Reads the options of a command, and the files that they name, into those of a run. Who takes part
 * is `nameParticipants`' to say where no option does.
 */
export async function prepareRun(
  briefPath: string | undefined,
  options: NewRunOptions,
): Promise<RunOptions> {
  const { process, until, domain, project, writer, ask, result, shortcuts } = options;
  const { name, brief } = await briefOf(briefPath, options);
  return {
    brief,
    name: options.name ?? name,
    models: options.model,
    resources: await Promise.all(options.resource.map(readResource)),
    sources: await gatherPlaces(options.source),
    depth: readDepth(options.depth),
    overlay: await readOverlay(options.overlay),
    projectOverlay: await readOverlay(options.projectOverlay),
    process,
    until,
    domain,
    project,
    writer,
    ask,
    result,
    shortcuts,
    date: options.date,
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
  throw new DialecticError(
    'usage_invalid',
    'Name the brief, as in: dialectic run brief.md, or a --project that has one.',
  );
}

async function readOverlay(path: string | undefined): Promise<Overlay | undefined> {
  return path === undefined ? undefined : parseOverlay(path, await readText(path, 'overlay'));
}
