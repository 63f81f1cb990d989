import { DialecticError } from '../errors/errors.ts';
import { isProduced, orderInWaves } from '../recipe/edges.ts';
import type { Process, Stage } from '../recipe/types.ts';
import { countNoun } from '../text/count-noun.ts';
import { settleContribution } from './anchor.ts';
import { addToIndex, type DocumentIndex } from './document-index.ts';
import { planIndexed } from './plan-step.ts';
import type { Lane, PlannedJob, SourceDocument } from './types.ts';

export type SimulationOptions = {
  /** Lanes of a stage, where not all take part. */
  readonly lanesOfStage?: Readonly<Record<string, number>>;
  /** Refuse with plan_too_large beyond this. */
  readonly maxJobs?: number;
};

const MAX_JOBS = 100_000;

/**
 * Runs the planners over a process as if every job delivered, so that what is announced is what
 * the planners then make. Optional inputs that people or earlier iterations give are absent.
 */
export function simulateProcess(
  process: Process,
  laneCount: number,
  options: SimulationOptions = {},
): PlannedJob[] {
  const lanes = Array.from(
    { length: laneCount },
    (_, at): Lane => ({
      id: `lane-${at + 1}`,
      ordinal: at + 1,
    }),
  );
  const limit = options.maxJobs ?? MAX_JOBS;
  const stageLanes: Record<string, string[]> = {};
  const index: DocumentIndex = new Map();
  const jobs: PlannedJob[] = [];
  for (const stage of process.stages) {
    // The vote has not happened yet, so the first lane stands in for the chosen one.
    const most = stage.lanes === 'chosen' ? 1 : laneCount;
    const present = lanes.slice(0, options.lanesOfStage?.[stage.key] ?? most);
    stageLanes[stage.key] = present.map((lane) => lane.id);
    addGivens(index, stage);
    for (const wave of orderInWaves(stage)) {
      const planned = wave.flatMap((stepKey) =>
        present.flatMap((lane) => {
          const place = { process, stageKey: stage.key, stepKey, lane, lanes, stageLanes };
          return planIndexed({ ...place, iteration: 1, documents: [] }, index).jobs;
        }),
      );
      jobs.push(...planned);
      if (jobs.length > limit) throw tooLarge(process, laneCount, limit);
      for (const job of planned) addToIndex(index, toDocument(job));
    }
  }
  return jobs;
}

function tooLarge(process: Process, laneCount: number, limit: number): DialecticError {
  return new DialecticError(
    'plan_too_large',
    `${process.name} with ${countNoun(laneCount, 'participant')} makes more than ${limit} model calls.`,
    { details: { process: process.key, laneCount, limit } },
  );
}

/** What the job would leave behind; the identity serves as id. */
export function toDocument(job: PlannedJob): SourceDocument {
  const { sourceGroup, relationships } = settleContribution(job, job.identity);
  return {
    id: job.identity,
    identity: job.identity,
    kind: job.outputKind,
    stage: job.stage,
    documentKey: job.documentKey,
    iteration: job.iteration,
    laneId: job.laneId,
    contributionId: job.identity,
    sourceGroup,
    relationships,
  };
}

/** What a run has without any step: seed prompts, and whatever else the stage cannot do without. */
function addGivens(index: DocumentIndex, stage: Stage): void {
  const given = new Map<string, SourceDocument>();
  const add = (
    kind: SourceDocument['kind'],
    source: string | null,
    documentKey: string | null,
  ): void => {
    const identity = [kind, source, documentKey].filter((part) => part !== null).join('/');
    const from = { stage: source, documentKey, iteration: 1, laneId: null };
    const nothing = { contributionId: null, sourceGroup: null, relationships: {} };
    given.set(identity, { id: identity, identity, kind, ...from, ...nothing });
  };
  add('seed_prompt', stage.key, null);
  for (const input of stage.steps.flatMap((step) => step.inputs)) {
    if (isProduced(input) || !input.required || input.type === 'seed_prompt') continue;
    const kind = input.type === 'contribution' ? 'document' : input.type;
    add(kind, input.stage, input.documentKey);
  }
  for (const document of given.values()) addToIndex(index, document);
}
