import type { Transaction } from '../db/database.ts';
import { saveContribution, saveDocument } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import { auditDocument } from '../generation/audit-document.ts';
import type { ChunkRange, ExecutePayload } from '../generation/chain.ts';
import { fillFields } from '../generation/fill-fields.ts';
import type { Effects, JobContext } from '../jobs/context.ts';
import type { Job } from '../jobs/types.ts';
import { parseModelId } from '../models/model-id.ts';
import { newId } from '../platform/ids.ts';
import { requireContract } from '../recipe/contract.ts';
import { laneOf } from '../session/read.ts';
import { endCall } from './end-call.ts';
import { jobDocument } from './job-document.ts';
import type { Judged, KeptDocument } from './judge.ts';
import type { Loaded } from './load.ts';
import { providerKey } from './provider-limits.ts';
import { renderJobs } from './render.ts';
import { saveCitations, toRecord } from './save-citations.ts';

/** Saves an answer's chunk, its usage and what it means for the document, in one transaction. */
export async function save({ job, commit }: JobContext, judged: Judged): Promise<void> {
  const { verdict, answer, firstChunk } = judged;
  const place = { sessionId: job.sessionId, jobId: job.id };
  await commit({
    writeAtOnce: (tx) => {
      const { text, finishReason } = answer;
      const id = newId();
      // The money comes last: every call of the tenant waits for the lock on the account that pays.
      return Promise.all([
        saveContribution(tx, { ...place, id, chainId: job.chainId, text, finishReason }),
        verdict.kind === 'document' &&
          saveVerdict(tx, job, { ...judged, verdict, firstChunk: firstChunk ?? id }),
        endCall(tx, judged, id),
      ]);
    },
    ...whatFollows(judged),
  });
}

/** Saves a document whose request for other citations could not be made, as its last answer left it. */
export const saveKept = ({ job, commit }: JobContext, kept: KeptDocument): Promise<void> =>
  commit({ writeAtOnce: (tx) => saveVerdict(tx, job, kept), children: renderJobs(kept) });

/** The statements that save a document; given at once, each behind the one before it. */
function saveVerdict(tx: Transaction, job: Job, kept: KeptDocument): Promise<unknown> {
  const { planned, verdict, firstChunk: contributionId } = kept;
  const audit = auditDocument(kept, verdict.content);
  const id = newId();
  const document = {
    sessionId: job.sessionId,
    jobId: job.id,
    id,
    planned,
    citations: toRecord(kept, audit),
    contributionId,
    content: fillContent(kept, verdict.content, contributionId),
    body: verdict.body,
  };
  return Promise.all([saveDocument(tx, document), saveCitations(tx, kept, id, audit)]);
}

function whatFollows(judged: Judged): Effects {
  const { planned, model, session, standing, chunks, verdict, rerun } = judged;
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
    ...(rerun !== null && { rerun }),
  };
  const document = jobDocument(planned);
  const writer = rerun?.lanes.at(-1);
  // Another participant's provider has a limit of its own.
  const key = writer && providerKey(parseModelId(laneOf(session, writer).model).provider);
  const place = { document, ...(key !== undefined && { concurrencyKey: key }) };
  return { continuation: { type: 'EXECUTE', ...place, payload: { ...payload } } };
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
  { session, stage, step, planned, sourceModel }: Loaded,
  content: unknown,
  own: string,
) {
  return fillFields(requireContract(stage, step), content, {
    lineage: planned.sourceGroup ?? own,
    source_model: sourceModel,
    own_model: laneOf(session, planned.laneId).model,
    iteration: planned.iteration,
    document_key: planned.documentKey,
  });
}
