import type { ExecutePayload } from '../generation/chain.ts';
import { settleContribution } from '../planning/anchor.ts';
import type { PlannedJob, SourceDocument } from '../planning/types.ts';
import { newId } from '../platform/ids.ts';
import { isCombining } from '../recipe/expand-combine.ts';
import type { Stage } from '../recipe/types.ts';

/** A document that a job of the same plan combines: it has no id of its own yet. */
type Awaited = {
  /** Of the job that makes it; stands for the document until it is there. */
  readonly jobId: string;
  readonly document: SourceDocument;
};

/** What a job that combines will make, as far as planning needs to know it. */
export function awaitDocument(jobId: string, planned: PlannedJob): Awaited {
  const contributionId = newId();
  const { sourceGroup, relationships } = settleContribution(planned, contributionId);
  return {
    jobId,
    document: {
      id: jobId,
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
    },
  };
}

/**
 * What a step waits for, of what is combined in the same plan. A job has one prerequisite: a step
 * that reads two combined documents, or may go on without them, is planned when they are there.
 */
export function findAwaited(
  stage: Stage,
  stepKey: string,
  awaited: readonly Awaited[],
): Awaited | undefined {
  const inputs = stage.steps.find(({ key }) => key === stepKey)?.inputs ?? [];
  const read = inputs.filter((input) =>
    stage.steps.some((step) => isCombining(step) && step.output.documentKey === input.documentKey),
  );
  const [input] = read;
  if (input === undefined || read.length > 1 || !input.required) return undefined;
  return awaited.find(({ document }) => document.documentKey === input.documentKey);
}

/** The payload of a job that waits for a document, which `load` puts in its place. */
export const payloadFor = (planned: PlannedJob, { document }: Awaited): ExecutePayload => ({
  planned,
  awaits: {
    identity: document.identity,
    documentId: document.id,
    contributionId: document.contributionId ?? '',
  },
});
