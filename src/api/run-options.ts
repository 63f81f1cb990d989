import { defaultProcess, findRecipe } from '../catalogue/recipe-folders.ts';
import { DialecticError } from '../errors/errors.ts';
import { readTextFolder } from '../platform/folders.ts';
import { configureProcess, RUN_DEFAULTS } from '../recipe/configure-process.ts';
import { requireDomain, requireResources, requireUntil } from '../recipe/given.ts';
import type { Depth, Overlay } from '../recipe/types.ts';
import { loadProcess } from '../recipe/validate.ts';
import type { NewResource, NewRun } from '../session/start.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';

/** What a run is told; all of it is plain data. */
export type RunOptions = {
  /** The request, as text; may be left out where `project` names one that has a brief. */
  readonly brief?: string | undefined;
  /** The participants as `provider/model`; the same model may stand here more than once. */
  readonly models: readonly string[];
  /** A shipped process or a recipe folder; the domain's process, else `software-plan`. */
  readonly process?: string | undefined;
  /** The name of the new project; `brief` where absent. */
  readonly name?: string | undefined;
  /** The name or id of the project that holds the session; a new name makes a new one. */
  readonly project?: string | undefined;
  readonly domain?: string | undefined;
  /** How much is written; `standard` where absent. */
  readonly depth?: Depth | undefined;
  /** Whether the run asks first: it then rests with its questions. */
  readonly ask?: boolean | undefined;
  /** Whether the result stage is written; true where absent. */
  readonly result?: boolean | undefined;
  /** Whether code copies where there is nothing to merge or to rank; true where absent. */
  readonly shortcuts?: boolean | undefined;
  /** The stage to stop after. */
  readonly until?: string | undefined;
  /** `stage`: the run rests after every stage until it is approved. */
  readonly approve?: 'stage' | 'none' | undefined;
  /** The participant that alone goes on where the process allows it. */
  readonly writer?: string | undefined;
  /** Whether the run goes on when a participant fails in a stage. */
  readonly allowDegraded?: boolean | undefined;
  readonly resources?: readonly NewResource[] | undefined;
  /** Role, standards and style of this session, and of a new project. */
  readonly overlay?: Overlay | undefined;
  readonly projectOverlay?: Overlay | undefined;
  /** The run pauses before it would spend more. */
  readonly budget?: RunBudget | undefined;
  /** The folder that the run is written to, remembered with it and refused before it starts. */
  readonly out?: string | undefined;
};

/** Completes what a run is told to a run that could be started. */
export async function prepareRun(options: RunOptions): Promise<NewRun> {
  const { models, domain = null, resources = [], project, brief = '' } = options;
  if (brief === '' && project === undefined) {
    throw new DialecticError('usage_invalid', 'A run needs a brief, or a project that has one.');
  }
  const { folder } = await findRecipe(options.process ?? (await defaultProcess(options.domain)));
  const process = configureProcess(loadProcess(await readTextFolder(folder)), {
    depth: options.depth ?? RUN_DEFAULTS.depth,
    ask: options.ask ?? RUN_DEFAULTS.ask,
    result: options.result ?? RUN_DEFAULTS.result,
    shortcuts: options.shortcuts ?? RUN_DEFAULTS.shortcuts,
    laneCount: models.length,
  });
  requireDomain(process, domain);
  requireResources(process, resources);
  requireUntil(process, options.until ?? null);
  return {
    project: project ?? null,
    name: options.name ?? project ?? 'brief',
    domain,
    brief,
    resources,
    process,
    models,
    untilStage: options.until ?? null,
    reviewStages: options.approve === 'stage',
    allowDegraded: options.allowDegraded ?? false,
    writer: options.writer === undefined ? null : findWriter(models, options.writer),
    overlay: options.overlay ?? null,
    projectOverlay: options.projectOverlay ?? null,
  };
}

function findWriter(models: readonly string[], writer: string): number {
  const at = models.indexOf(writer);
  if (at >= 0) return at + 1;
  const message = `${writer} takes no part in this run. Participants: ${models.join(', ')}.`;
  throw new DialecticError('usage_invalid', message);
}
