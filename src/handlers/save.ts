import { saveContribution, saveDocument } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import { auditDocument } from '../generation/audit-document.ts';
import type { ChunkRange, ExecutePayload } from '../generation/chain.ts';
import { fillFields } from '../generation/fill-fields.ts';
import type { Effects, JobContext } from '../jobs/context.ts';
import { newId } from '../platform/ids.ts';
import { requireContract } from '../recipe/contract.ts';
import { endCall } from './end-call.ts';
import { jobDocument } from './job-document.ts';
import type { Judged } from './judge.ts';
import type { Loaded } from './load.ts';
import { renderJobs } from './render.ts';
import { saveCitations, toRecord } from './save-citations.ts';

/** Saves an answer's chunk, its usage and what it means for the document, in one transaction. */
export async function save({ job, commit }: JobContext, judged: Judged): Promise<void> {
  const { planned, verdict, answer, firstChunk } = judged;
  const place = { sessionId: job.sessionId, jobId: job.id };
  const audit = verdict.kind === 'document' ? auditDocument(judged, verdict.content) : null;
  await commit({
    writeAtOnce: (tx) => {
      const { text, finishReason } = answer;
      const id = newId();
      const contributionId = firstChunk ?? id;
      const documentId = newId();
      const document = verdict.kind === 'document' && {
        ...place,
        id: documentId,
        planned,
        citations: toRecord(audit),
        contributionId,
        content: fillContent(judged, verdict.content, contributionId),
        body: verdict.body,
      };
      // The money comes last: every call of the tenant waits for the lock on the account that pays.
      return Promise.all([
        saveContribution(tx, { ...place, id, chainId: job.chainId, text, finishReason }),
        ...(document
          ? [saveDocument(tx, document), saveCitations(tx, judged, documentId, audit)]
          : []),
        endCall(tx, judged, id),
      ]);
    },
    ...whatFollows(judged),
  });
}

function whatFollows(judged: Judged): Effects {
  const { planned, model, standing, chunks, verdict } = judged;
  if (verdict.kind === 'document') return { children: renderJobs(judged) };
  if (verdict.kind === 'give-up') {
    const message = `The document ${planned.documentKey} did not come about: ${verdict.reason}`;
    const details = { model, stage: planned.stage, document: planned.documentKey };
    return { next: { fail: new DialecticError(verdict.code, message, { details }) } };
  }
  const here = chunks.length + 1;
  const from = standing.problems === null ? standing.from : here;
  const valid = verdict.kind === 'mend' ? { from, to: here, kept: standing.kept } : standing.valid;
  const payload: ExecutePayload = {
    planned,
    from,
    state: verdict.state,
    ...(verdict.kind === 'continue'
      ? { only: standing.only, kept: standing.kept }
      : {
          problems: verdict.problems,
          ...keepAttempts(standing, verdict.only, { from, to: here }),
        }),
    ...(valid !== null && { valid }),
  };
  const document = jobDocument(planned);
  return { continuation: { type: 'EXECUTE', document, payload: { ...payload } } };
}

/** Which attempts are kept when some sections are asked for again: this one, and what it kept. */
const keepAttempts = (
  { kept }: Loaded['standing'],
  only: readonly string[],
  attempt: ChunkRange,
): Pick<ExecutePayload, 'only' | 'kept'> =>
  only.length === 0 ? {} : { only, kept: [...kept, attempt] };

/** Fields that code owns; a document's lineage is that of its first chunk where it starts one. */
function fillContent(
  { stage, step, planned, model, sourceModel }: Loaded,
  content: unknown,
  own: string,
) {
  return fillFields(requireContract(stage, step), content, {
    lineage: planned.sourceGroup ?? own,
    source_model: sourceModel,
    own_model: model,
    iteration: planned.iteration,
    document_key: planned.documentKey,
  });
}
