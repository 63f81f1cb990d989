import { hash } from 'node:crypto';
import { type AnchorRule, anchorRule } from '../recipe/anchor-rule.ts';
import { rivalsInput } from '../recipe/ballot.ts';
import { isProduced } from '../recipe/edges.ts';
import { inheritRelationships, lineageOfMerge, selectAnchor } from './anchor.ts';
import { dealLabels } from './deal-labels.ts';
import { compareText, type DocumentIndex, indexDocuments } from './document-index.ts';
import { type Gathered, gatherInputs, refuse } from './gather.ts';
import { giveFeedback } from './give-feedback.ts';
import { missingOfJob, missingOfStep } from './missing.ts';
import { type JobDraft, STRATEGIES } from './strategies.ts';
import type { Loss, PlannedJob, PlanRequest, StepPlan } from './types.ts';

/**
 * The jobs of one step in one lane. A pure function of what exists: neither the order of the
 * documents nor their random ids change which jobs there are, and their inputs are fixed here.
 */
export function planStep(request: PlanRequest): StepPlan {
  return planIndexed(request, indexDocuments(request.documents));
}

/** The same, for a caller that plans many steps over one growing set of documents. */
export function planIndexed(request: PlanRequest, index: DocumentIndex): StepPlan {
  const gathered = gatherInputs(request, index);
  const drafts = STRATEGIES[gathered.step.granularity](gathered);
  const rule = anchorRule(gathered.step);
  const missing = missingOfStep(gathered);
  const jobs = drafts.map((draft) => finishJob(gathered, rule, missing, draft));
  if (jobs.length === 0) refuseEmpty(gathered);
  return { jobs: giveFeedback(request, gathered.step, jobs, index), missing: gathered.missing };
}

/** Policies may leave jobs out, but a step that makes none has not been done. */
function refuseEmpty(gathered: Gathered): void {
  const name = gathered.missing[0]?.input ?? gathered.driver?.input.name;
  const input = gathered.step.inputs.find((one) => one.name === name) ?? gathered.step.inputs[0];
  if (input !== undefined) refuse(gathered, input, 'missing', null, null);
}

function finishJob(
  gathered: Gathered,
  rule: AnchorRule,
  missingOfAll: readonly Loss[],
  draft: JobDraft,
): PlannedJob {
  const { request, step } = gathered;
  checkSingle(gathered, draft);
  const lineage = draft.lineage === undefined ? lineageOfMerge(step, draft.inputs) : draft.lineage;
  const anchor = selectAnchor(step, draft.inputs, request.lane.id, lineage, rule);
  const rivals = rivalsInput(request.process, step);
  const inputs = step.inputs.map((input, at) => {
    const documents = draft.inputs[at] ?? [];
    const ordered = input === rivals ? dealLabels(documents, request) : documents;
    return { name: input.name, ids: ordered.map((document) => document.id) };
  });
  const missing = missingOfJob(request, missingOfAll, draft.inputs);
  return {
    identity: nameJob(request, draft.distinction),
    stage: request.stageKey,
    step: step.key,
    laneId: request.lane.id,
    iteration: request.iteration,
    documentKey: step.output.documentKey,
    outputKind: step.output.kind,
    inputs,
    inputIds: uniqueSorted(inputs.flatMap((input) => input.ids)),
    driverId: draft.driver?.id ?? null,
    respondingLaneId: draft.respondingLaneId,
    anchor: anchor.result,
    sourceGroup: lineage,
    relationships: inheritRelationships(step, request.stageKey, anchor.document),
    ...(missing.length > 0 && { missing }),
  };
}

const uniqueSorted = (ids: readonly string[]): readonly string[] =>
  ids.length < 2 ? ids : [...new Set(ids)].toSorted(compareText);

function checkSingle(gathered: Gathered, draft: JobDraft): void {
  for (const [at, input] of gathered.step.inputs.entries()) {
    const count = draft.inputs[at]?.length ?? 0;
    if (count < 2 || input.multiple || !isProduced(input)) continue;
    refuse(gathered, input, 'ambiguous', null, draft.lineage ?? null);
  }
}

function nameJob(request: PlanRequest, distinction: string | null): string {
  const { iteration, stageKey, stepKey, lane } = request;
  const place = `${iteration}/${stageKey}/${stepKey}/${lane.ordinal}`;
  if (distinction === null) return place;
  return `${place}/${hash('sha256', distinction, 'hex').slice(0, 16)}`;
}
