import { createHash } from 'node:crypto';
import { isProduced } from '../recipe/edges.ts';
import { inheritRelationships, lineageOfMerge, selectAnchor } from './anchor.ts';
import { compareText, type DocumentIndex, indexDocuments } from './document-index.ts';
import { type Gathered, gatherInputs, refuse } from './gather.ts';
import { type JobDraft, STRATEGIES } from './strategies.ts';
import type { PlannedJob, PlanRequest, StepPlan } from './types.ts';

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
  const jobs = drafts.map((draft) => finishJob(gathered, draft));
  if (jobs.length === 0) refuseEmpty(gathered);
  return { jobs, missing: gathered.missing };
}

/** Policies may leave jobs out, but a step that makes none has not been done. */
function refuseEmpty(gathered: Gathered): void {
  const name = gathered.missing[0]?.input ?? gathered.driver?.input.name;
  const input = gathered.step.inputs.find((one) => one.name === name) ?? gathered.step.inputs[0];
  if (input !== undefined) refuse(gathered, input, 'missing', null, null);
}

function finishJob(gathered: Gathered, draft: JobDraft): PlannedJob {
  const { request, step } = gathered;
  checkSingle(gathered, draft);
  const lineage = draft.lineage === undefined ? lineageOfMerge(step, draft.inputs) : draft.lineage;
  const anchor = selectAnchor(step, draft.inputs, request.lane.id, lineage);
  const all = [...draft.inputs.values()].flat();
  const anchorDocument =
    'inputId' in anchor ? all.find((document) => document.id === anchor.inputId) : undefined;
  return {
    identity: nameJob(request, draft.distinction),
    stage: request.stageKey,
    step: step.key,
    laneId: request.lane.id,
    iteration: request.iteration,
    documentKey: step.output.documentKey,
    outputKind: step.output.kind,
    inputs: step.inputs.map((input) => ({
      name: input.name,
      ids: (draft.inputs.get(input.name) ?? []).map((document) => document.id),
    })),
    inputIds: [...new Set(all.map((document) => document.id))].toSorted(compareText),
    driverId: draft.driver?.id ?? null,
    respondingLaneId: draft.respondingLaneId,
    anchor,
    sourceGroup: lineage,
    relationships: inheritRelationships(step, request.stageKey, anchor, anchorDocument),
  };
}

function checkSingle(gathered: Gathered, draft: JobDraft): void {
  for (const input of gathered.step.inputs) {
    if (input.multiple || !isProduced(input)) continue;
    const count = draft.inputs.get(input.name)?.length ?? 0;
    if (count > 1) refuse(gathered, input, 'ambiguous', null, draft.lineage ?? null);
  }
}

function nameJob(request: PlanRequest, distinction: string | null): string {
  const { iteration, stageKey, stepKey, lane } = request;
  const place = `${iteration}/${stageKey}/${stepKey}/${lane.ordinal}`;
  if (distinction === null) return place;
  return `${place}/${createHash('sha256').update(distinction).digest('hex').slice(0, 16)}`;
}
