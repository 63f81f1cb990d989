import { defaultProcess, findRecipe } from '../catalogue/recipe-folders.ts';
import { DialecticError } from '../errors/errors.ts';
import { MOST_PARTICIPANTS } from '../models/participants.ts';
import { now } from '../platform/clock.ts';
import { readTextFolder } from '../platform/folders.ts';
import { configureProcess, RUN_DEFAULTS } from '../recipe/configure-process.ts';
import { requireStage } from '../recipe/find-stage.ts';
import { requireDomain, requireResources } from '../recipe/given.ts';
import type { Depth, Overlay, Process } from '../recipe/types.ts';
import { loadProcess } from '../recipe/validate.ts';
import { requireParticipant } from '../session/find-participant.ts';
import type { NewResource, NewRun } from '../session/start.ts';
import type { GivenSource } from '../sources/source-copies.ts';
import { toLine } from '../text/clean-text.ts';
import { isDay, localDay } from '../text/day.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';

/** What a run is told; all of it is plain data. */
export type RunOptions = {
  /** The request, as text; may be left out where `project` names one that has a brief. */
  readonly brief?: string | undefined;
  /** The participants as `provider/model`, at most 50; one model may stand here more than once. */
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
  /** The stage to stop after, by key or name. */
  readonly until?: string | undefined;
  /**
   * After which stages the run rests until it is approved: `stage` for all of them, `none`, or stages
   * by key or name, with commas between them. The stage that asks the requester first then runs, too.
   */
  readonly approve?: string | undefined;
  /** The participant that alone goes on where the process allows it, by model or number. */
  readonly writer?: string | undefined;
  /** Whether the run goes on when a participant fails in a stage. */
  readonly allowDegraded?: boolean | undefined;
  readonly resources?: readonly NewResource[] | undefined;
  /** What the documents may cite, in the order of their ids; `gatherSources` reads files and pages. */
  readonly sources?: readonly GivenSource[] | undefined;
  /** Role, standards and style of this session, and of a new project. */
  readonly overlay?: Overlay | undefined;
  readonly projectOverlay?: Overlay | undefined;
  /** The run pauses before it would spend more. */
  readonly budget?: RunBudget | undefined;
  /** The calls that `preflight` made for this run, by their ids; the session takes their cost over. */
  readonly preflight?: readonly string[] | undefined;
  /** The day that every prompt calls today, as YYYY-MM-DD; the day of the start where absent. */
  readonly date?: string | undefined;
  /** The folder that the run is written to, remembered with it and refused before it starts. */
  readonly out?: string | undefined;
};

/** Completes what a run is told to a run that could be started. */
export async function prepareRun(options: RunOptions): Promise<NewRun> {
  const { models, domain = null, resources = [], project, brief = '' } = options;
  if (brief === '' && project === undefined) {
    throw new DialecticError('usage_invalid', 'A run needs a brief, or a project that has one.');
  }
  if (models.length > MOST_PARTICIPANTS) throw tooMany(models.length);
  const { folder } = await findRecipe(options.process ?? (await defaultProcess(options.domain)));
  const recipe = loadProcess(await readTextFolder(folder));
  const gates = findReviewed(recipe, options.approve ?? 'none');
  const asks = recipe.askStage !== null && gates.includes(recipe.askStage);
  if (options.ask && recipe.askStage === null) throw asksNothing(recipe);
  const process = configureProcess(recipe, {
    depth: options.depth ?? RUN_DEFAULTS.depth,
    ask: asks || (options.ask ?? RUN_DEFAULTS.ask),
    gates,
    result: options.result ?? RUN_DEFAULTS.result,
    shortcuts: options.shortcuts ?? RUN_DEFAULTS.shortcuts,
    laneCount: models.length,
  });
  requireDomain(process, domain);
  requireResources(process, resources);
  return {
    project: project === undefined ? null : toLine(project),
    name: toLine(options.name ?? project ?? 'brief'),
    domain,
    brief,
    resources: resources.map((one) => ({ ...one, name: toLine(one.name) })),
    sources: options.sources ?? [],
    process,
    models,
    untilStage: options.until === undefined ? null : requireStage(process, options.until).key,
    reviewStages: options.approve === 'stage',
    allowDegraded: options.allowDegraded ?? false,
    writer: options.writer === undefined ? null : findWriter(models, options.writer),
    overlay: options.overlay ?? null,
    projectOverlay: options.projectOverlay ?? null,
    date: options.date === undefined ? localDay(now()) : requireDate(options.date),
  };
}

const tooMany = (count: number): DialecticError =>
  new DialecticError(
    'usage_invalid',
    `A run has at most ${MOST_PARTICIPANTS} participants, and ${count} are named. Leave some out.`,
  );

function requireDate(date: string): string {
  if (isDay(date)) return date;
  throw new DialecticError('usage_invalid', `${date} is no day; give it as 2026-11-19.`);
}

/** The stages that are named for a review; one behind which nothing comes is refused. */
function findReviewed(recipe: Process, approve: string): string[] {
  if (approve === 'none' || approve === 'stage') return [];
  const last = recipe.stages.at(-1);
  return approve.split(',').map((wanted) => {
    const stage = requireStage(recipe, wanted.trim());
    if (stage !== last) return stage.key;
    const message = `${stage.name} is the last stage: nothing waits for its approval.`;
    throw new DialecticError('usage_invalid', message);
  });
}

const findWriter = (models: readonly string[], writer: string): number =>
  requireParticipant(
    models.map((model, at) => ({ ordinal: at + 1, model })),
    writer,
  ).ordinal;

/** A wish that nothing would come of is refused, with what comes nearest to it. */
function asksNothing({ key, stages }: Process): DialecticError {
  const [first] = stages;
  const message =
    `The process ${key} has no stage that asks questions first. ` +
    `To answer those of its first stage: --approve ${first?.key ?? 'stage'}`;
  return new DialecticError('usage_invalid', message);
}
