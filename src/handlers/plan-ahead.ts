import type { ExecutePayload } from '../generation/chain.ts';
import { settleContribution } from '../planning/anchor.ts';
import type { Readiness, StepState } from '../planning/ready.ts';
import type { PlannedJob, SourceDocument } from '../planning/types.ts';
import { newId } from '../platform/ids.ts';
import { deriveEdges, stepOf } from '../recipe/edges.ts';
import type { Stage } from '../recipe/types.ts';
import { onceFor } from '../text/memo.ts';

/** A job to insert, and what it waits for where it was planned ahead. */
export type PlanEntry = {
  readonly id: string;
  readonly planned: PlannedJob;
  /** Stand-ins for documents that jobs of the same plan make. */
  readonly awaits?: ExecutePayload['awaits'];
  readonly prerequisiteId?: string;
};

/** What planning needs to know of the lane. */
type LaneAhead = {
  readonly stage: Stage;
  /** What is ready, and what waits for other lanes, where these steps stand so. */
  readonly lookAfter: (planned: Readonly<Record<string, StepState>>) => Readiness;
  /** Plans a step with documents beside those that are there; throws where it cannot be. */
  readonly plan: (stepKey: string, beside: readonly SourceDocument[]) => readonly PlannedJob[];
};

/**
 * More jobs than this at once take longer to insert than their plan would take later, while the
 * first requests of the lane wait for it.
 */
const MOST_AT_ONCE = 12;

/**
 * Plans the steps that only wait for jobs of this plan, each job behind the last one whose document it
 * reads, so that its end sets them free without another look at the lane. Steps that become ready
 * together are planned together or not at all: a lane looks again when all its jobs are over, and
 * would come late to a step that was left out.
 */
export function planAhead(first: readonly PlanEntry[], lane: LaneAhead): PlanEntry[] {
  const entries = [...first];
  for (;;) {
    const level = planLevel(entries, lane);
    if (level.length === 0) return entries;
    entries.push(...level);
  }
}

function planLevel(entries: readonly PlanEntry[], { stage, lookAfter, plan }: LaneAhead) {
  const planned = new Set(entries.map((entry) => entry.planned.step));
  const done = [...planned].map((key): [string, StepState] => [key, 'done']);
  const { ready: steps, waitingForLanes } = lookAfter(Object.fromEntries(done));
  if (waitingForLanes.length > 0 || !steps.every((key) => readsAll(stage, key, planned))) return [];
  const level: PlanEntry[] = [];
  try {
    for (const key of steps) {
      for (const job of plan(key, entries.map(standIn))) {
        const entry = awaitInputs(job, entries);
        if (entry === null || level.length === MOST_AT_ONCE) return [];
        level.push(entry);
      }
    }
  } catch {
    // The lane will plan the step when it is due, and then say what is missing.
    return [];
  }
  return level;
}

/**
 * Whether it needs the documents of planned steps, and must not merely come after one of these. Under
 * another policy than `all` a step may lose jobs, and its readers are told which.
 */
function readsAll(stage: Stage, stepKey: string, planned: ReadonlySet<string>): boolean {
  if (stepOf(stage, stepKey).after.some((key) => planned.has(key))) return false;
  return deriveEdges(stage).every(
    ({ from, to, required }) =>
      to !== stepKey ||
      !planned.has(from) ||
      (required && stepOf(stage, from).dependencyPolicy === 'all'),
  );
}

/** The document of a job as planning sees it, with ids that stand for those it will have. */
const standIn = onceFor(({ id, planned }: PlanEntry): SourceDocument => {
  const contributionId = newId();
  const { sourceGroup, relationships } = settleContribution(planned, contributionId);
  return {
    id,
    identity: planned.identity,
    kind: planned.outputKind,
    stage: planned.stage,
    documentKey: planned.documentKey,
    iteration: planned.iteration,
    laneId: planned.laneId,
    contributionId,
    sourceGroup,
    relationships,
    missing: planned.missing ?? [],
  };
});

/**
 * A job has one prerequisite: null where none of those that it waits for is the last of all. Its lineage
 * and its anchor may be those of documents that it does not read, and which then are awaited, too.
 */
function awaitInputs(planned: PlannedJob, entries: readonly PlanEntry[]): PlanEntry | null {
  const read = entries.filter(({ id }) => planned.inputIds.includes(id));
  const last = read.find((one) => {
    const before = chainOf(one, entries);
    return read.every((other) => before.includes(other));
  });
  if (last === undefined) return null;
  const text = JSON.stringify(planned);
  const awaits = chainOf(last, entries)
    .map((entry) => {
      const { identity, contributionId } = standIn(entry);
      return { identity, documentId: entry.id, contributionId: contributionId ?? '' };
    })
    .filter((one) => text.includes(one.documentId) || text.includes(one.contributionId));
  return { id: newId(), planned, awaits, prerequisiteId: last.id };
}

/** A job and those that have ended before it can start. */
function chainOf(entry: PlanEntry, entries: readonly PlanEntry[]): PlanEntry[] {
  const before = entries.find(({ id }) => id === entry.prerequisiteId);
  return before ? [entry, ...chainOf(before, entries)] : [entry];
}
