import { anchorRule } from '../recipe/anchor-rule.ts';
import { isProduced } from '../recipe/edges.ts';
import type { Step } from '../recipe/types.ts';
import { lineageOf } from './document-index.ts';
import type { AnchorResult, PlannedJob, SourceDocument } from './types.ts';

/** The documents of one job by input name. */
export type JobInputs = ReadonlyMap<string, readonly SourceDocument[]>;

/** Which contribution is the reference of a job's branch: own lane first, then own lineage. */
export function selectAnchor(
  step: Step,
  inputs: JobInputs,
  laneId: string,
  lineage: string | null,
): AnchorResult {
  const rule = anchorRule(step);
  if (rule.status === 'no_anchor_required') return rule;
  const candidates = (inputs.get(rule.input.name) ?? []).filter(
    (document) => document.contributionId !== null,
  );
  const anchor =
    candidates.find((one) => one.laneId === laneId && lineageOf(one) === lineage) ??
    candidates.find((one) => one.laneId === laneId) ??
    candidates.find((one) => lineageOf(one) === lineage) ??
    candidates[0];
  if (anchor?.contributionId === undefined || anchor.contributionId === null) {
    const { stage, documentKey } = rule.input;
    return { status: 'anchor_not_found', stage, documentKey };
  }
  return { status: rule.status, inputId: anchor.id, contributionId: anchor.contributionId };
}

/**
 * The lineage of a job that merges. A header passes its own on; an all_to_one PLAN keeps what all
 * its required inputs share; everything else, and per_model always, starts a new one (null).
 */
export function lineageOfMerge(step: Step, inputs: JobInputs): string | null {
  if (step.granularity === 'per_model') return null;
  if (step.jobType === 'EXECUTE') {
    const rule = anchorRule(step);
    if (rule.status === 'no_anchor_required') return null;
    return inputs.get(rule.input.name)?.[0]?.sourceGroup ?? null;
  }
  const groups = new Set(
    step.inputs
      .filter((input) => isProduced(input) && input.required)
      .flatMap((input) => inputs.get(input.name) ?? [])
      .map(lineageOf),
  );
  const [only] = groups;
  return groups.size === 1 ? (only ?? null) : null;
}

/**
 * The anchors that a contribution inherits. A header is its own anchor, and so is what needs none:
 * for these the key of the stage is left to settleContribution.
 */
export function inheritRelationships(
  step: Step,
  stageKey: string,
  anchor: AnchorResult,
  anchorDocument: SourceDocument | undefined,
): Record<string, string> {
  const { [stageKey]: _own, ...inherited } = anchorDocument?.relationships ?? {};
  if (step.jobType === 'PLAN' || !('contributionId' in anchor)) return inherited;
  return { ...inherited, [stageKey]: anchor.contributionId };
}

/** What is saved with a contribution. */
export type SettledContribution = {
  readonly sourceGroup: string;
  readonly relationships: Readonly<Record<string, string>>;
  /** The first chunk of the chain; its own id for the first. */
  readonly sourceDocument: string;
};

/** The producer's part: what the planner left open becomes the first chunk's own id. */
export function settleContribution(
  job: Pick<PlannedJob, 'stage' | 'sourceGroup' | 'relationships'>,
  firstChunkId: string,
): SettledContribution {
  return {
    sourceGroup: job.sourceGroup ?? firstChunkId,
    relationships: {
      ...job.relationships,
      [job.stage]: job.relationships[job.stage] ?? firstChunkId,
    },
    sourceDocument: firstChunkId,
  };
}
