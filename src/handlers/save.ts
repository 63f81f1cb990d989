import type { Database } from '../db/database.ts';
import { addNotice } from '../db/notices.ts';
import type { Transaction } from '../db/transaction.ts';
import { saveContribution, saveDocument } from '../documents/documents.ts';
import { DialecticError } from '../errors/errors.ts';
import { auditDocument } from '../generation/audit-document.ts';
import type { ExecutePayload } from '../generation/chain.ts';
import { fillFields } from '../generation/fill-fields.ts';
import type { Verdict } from '../generation/judge-answer.ts';
import type { Effects, JobContext } from '../jobs/context.ts';
import type { Job } from '../jobs/types.ts';
import { parseModelId } from '../models/model-id.ts';
import { newId } from '../platform/ids.ts';
import { requireContract } from '../recipe/contract.ts';
import { laneOf } from '../session/read.ts';
import { tellUncited, uncitedEvent } from './ask-for-sources.ts';
import { addCallCost, type ChainCost } from './chain-cost.ts';
import { costOf, endCall } from './end-call.ts';
import { keepMade } from './input-documents.ts';
import { jobDocument } from './job-document.ts';
import type { Judged, KeptDocument } from './judge.ts';
import type { Loaded } from './load.ts';
import { pageOf } from './make-page.ts';
import { providerKey } from './provider-limits.ts';
import { renderJobs } from './render.ts';
import { saveCitations, toRecord } from './save-citations.ts';

/** Saves an answer's chunk, its usage and what it means for the document, in one transaction. */
export async function save(
  database: Database,
  { job, commit }: JobContext,
  judged: Judged,
): Promise<void> {
  const { verdict, answer, firstChunk } = judged;
  const place = { sessionId: job.sessionId, jobId: job.id };
  const id = newId();
  const made =
    verdict.kind === 'document'
      ? makeDocument({ ...judged, verdict, firstChunk: firstChunk ?? id }, costWith(judged))
      : null;
  const uncited = judged.isFirstUncited ? tellUncited(judged) : null;
  const saved = commit({
    writeAtOnce: (tx) => {
      const { text, finishReason } = answer;
      // The money comes last: every call of the tenant waits for the lock on the account that pays.
      return Promise.all([
        saveContribution(tx, { ...place, id, chainId: job.chainId, text, finishReason }),
        made && saveMade(tx, job, judged, made),
        uncited && addNotice(tx, uncited),
        endCall(tx, judged, id),
      ]);
    },
    ...whatFollows(judged),
    events: judged.isFirstUncited ? [uncitedEvent(job, judged)] : [],
  });
  if (made) void keepMade(database, job.tenantId, made.document);
  await saved;
}

/** Saves a document whose request for other citations could not be made, as its last answer left it. */
export function saveKept({ job, commit }: JobContext, kept: KeptDocument): Promise<void> {
  const made = makeDocument(kept, null);
  return commit({
    writeAtOnce: (tx) => saveMade(tx, job, kept, made),
    children: renderJobs(kept),
  });
}

/** What the chain costs with the call that was answered. */
const costWith = ({ chainCost, price, answer }: Judged): ChainCost =>
  addCallCost(chainCost, { cost: costOf({ price, answer }), origin: answer.origin });

/** A document as it is saved, with its page where the cost of its chain is known. */
function makeDocument(kept: KeptDocument, cost: ChainCost | null) {
  const { planned, version, verdict, firstChunk: contributionId } = kept;
  const audit = auditDocument(kept, verdict.content);
  const made = {
    id: newId(),
    content: fillContent(kept, verdict.content, contributionId),
    body: verdict.body,
    citations: toRecord(kept, audit),
  };
  const page = cost && pageOf(kept, { ...made, cost });
  return { audit, document: { ...made, planned, version, contributionId, page } };
}

/** The statements that save a document; given at once, each behind the one before it. */
const saveMade = (
  tx: Transaction,
  job: Job,
  kept: Loaded,
  { audit, document }: ReturnType<typeof makeDocument>,
): Promise<unknown> =>
  Promise.all([
    saveDocument(tx, { sessionId: job.sessionId, jobId: job.id, ...document }),
    saveCitations(tx, kept, document.id, audit),
  ]);

function whatFollows(judged: Judged): Effects {
  const { planned, model, session, verdict, rerun } = judged;
  if (verdict.kind === 'document') return {};
  if (verdict.kind === 'give-up') {
    const message = `The document ${planned.documentKey} did not come about: ${verdict.reason}`;
    const details = { model, stage: planned.stage, document: planned.documentKey };
    return { next: { fail: new DialecticError(verdict.code, message, { details }) } };
  }
  const document = jobDocument(planned);
  const writer = rerun?.lanes.at(-1);
  // Another participant's provider has a limit of its own.
  const key = writer && providerKey(parseModelId(laneOf(session, writer).model).provider);
  const place = { document, ...(key !== undefined && { concurrencyKey: key }) };
  const payload = { planned, ...nextLink(judged, verdict) };
  return { continuation: { type: 'EXECUTE', ...place, payload } };
}

type Unfinished = Extract<Verdict, { kind: 'continue' | 'part' | 'repair' | 'mend' }>;

/** What the next link of the chain starts from. */
function nextLink(
  { standing, chunks, turn, rerun }: Judged,
  verdict: Unfinished,
): Omit<ExecutePayload, 'planned'> {
  const { only = [], later = [] } = turn ?? {};
  const here = chunks.length + 1;
  const from = standing.problems === null ? standing.from : here;
  const attempt = { from, to: here };
  const kept = [...standing.kept, attempt];
  const valid = verdict.kind === 'mend' ? { ...attempt, kept: standing.kept } : standing.valid;
  // Also what goes on with, or repairs, an answer to such a request.
  const isForSources = verdict.kind === 'mend' ? verdict.isUncited : standing.isUncited;
  const rest = {
    state: verdict.state,
    ...(valid !== null && { valid }),
    ...(rerun !== null && { rerun }),
    ...(isForSources && { uncited: true as const }),
  };
  if (verdict.kind === 'part') return { ...rest, from: here + 1, only: verdict.only, kept };
  if (verdict.kind === 'continue') return { ...rest, from, only, later, kept: standing.kept };
  // Of a document in parts those that were asked for are written again, never the later ones.
  const again = verdict.only.length === 0 && later.length > 0 ? only : verdict.only;
  const { problems } = verdict;
  return { ...rest, from, problems, later, ...(again.length > 0 && { only: again, kept }) };
}

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
