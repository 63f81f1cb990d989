import { type AnchorRule, anchorRule } from '../recipe/anchor-rule.ts';
import { isProduced } from '../recipe/edges.ts';
import type { Step } from '../recipe/types.ts';
import { lineageOf } from './document-index.ts';
import type { AnchorResult, PlannedJob, SourceDocument } from './types.ts';

/** The documents of one job, in the order of the step's inputs. */
export type JobInputs = readonly (readonly SourceDocument[])[];

/** The anchor of one job, and the document that it was taken from. */
type SelectedAnchor = {
  readonly result: AnchorResult;
  readonly document: SourceDocument | undefined;
};

/** Which contribution is the reference of a job's branch: own lane first, then own lineage. */
export function selectAnchor(
  step: Step,
  inputs: JobInputs,
  laneId: string,
  lineage: string | null,
  rule: AnchorRule = anchorRule(step),
): SelectedAnchor {
  if (rule.status === 'no_anchor_required') return { result: rule, document: undefined };
  const candidates = inputs[step.inputs.indexOf(rule.input)] ?? [];
  const document = findAnchor(candidates, laneId, lineage);
  if (document === undefined || document.contributionId === null) {
    const { stage, documentKey } = rule.input;
    return { result: { status: 'anchor_not_found', stage, documentKey }, document: undefined };
  }
  const { id: inputId, contributionId } = document;
  return { result: { status: rule.status, inputId, contributionId }, document };
}

function findAnchor(
  candidates: readonly SourceDocument[],
  laneId: string,
  lineage: string | null,
): SourceDocument | undefined {
  if (candidates.length < 2) return candidates[0];
  const isOwn = (one: SourceDocument): boolean => one.laneId === laneId;
  const isKin = (one: SourceDocument): boolean => lineageOf(one) === lineage;
  return (
    candidates.find((one) => isOwn(one) && isKin(one)) ??
    candidates.find(isOwn) ??
    candidates.find(isKin) ??
    candidates[0]
  );
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
    return inputs[step.inputs.indexOf(rule.input)]?.[0]?.sourceGroup ?? null;
  }
  const groups = new Set<string | null>();
  for (const [at, input] of step.inputs.entries()) {
    if (!isProduced(input) || !input.required) continue;
    for (const document of inputs[at] ?? []) groups.add(lineageOf(document));
  }
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
  anchor: SourceDocument | undefined,
): Record<string, string> {
  if (anchor === undefined) return {};
  const { [stageKey]: _own, ...inherited } = anchor.relationships;
  if (step.jobType === 'PLAN' || anchor.contributionId === null) return inherited;
  return { ...inherited, [stageKey]: anchor.contributionId };
}

/** What is saved with a contribution. */
type SettledContribution = {
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
  const anchor = job.relationships[job.stage] ?? firstChunkId;
  return {
    sourceGroup: job.sourceGroup ?? firstChunkId,
    relationships: { ...job.relationships, [job.stage]: anchor },
    sourceDocument: firstChunkId,
  };
}
