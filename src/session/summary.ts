import type { Transaction } from '../db/transaction.ts';
import type { Loss } from '../planning/types.ts';
import type { Style } from '../text/measure-style.ts';
import { lastStage } from './advance.ts';
import { type Chosen, tellChoice } from './choice-text.ts';
import type { ExportedSession } from './export.ts';
import type { CitationReport } from './export-sources.ts';
import { describeMissing } from './missing-text.ts';
import { nameOf, shortId } from './name-document.ts';
import type { Outcome } from './outcome.ts';
import { readQuestions } from './questions.ts';
import type { SessionView } from './read.ts';
import { describeStanding } from './standing.ts';
import { type VoteView, viewVote } from './vote-view.ts';

/** What a run leaves behind, for programs. */
export type RunResult = {
  readonly session: string;
  readonly status: string;
  /** The status in words, with the reason of a pause. */
  readonly standing: string;
  /** Why it rests between two stages, and what goes on then. */
  readonly awaiting: {
    readonly reason: 'review' | 'until';
    /** The stage that is over. */
    readonly stage: string;
    readonly until: string | null;
    /** How many questions are open where the stage that asks the requester was the last. */
    readonly openQuestions: number | null;
  } | null;
  readonly gates: readonly string[];
  /** The limits that are too low to go on, for each gate that one closed. */
  readonly shortages: readonly {
    readonly gate: string;
    readonly scope: string;
    readonly currency: string;
    readonly project: string;
  }[];
  /** The pass that it is in, or that was its last. */
  readonly iteration: number;
  /** The stage that was opened last in this pass; null before the first one. */
  readonly stage: string | null;
  /** Requests to models that have ended, in all passes: answered, failed or cut off. */
  readonly calls: number;
  /** How many of `documents` people can read: those with a path. */
  readonly documentCount: number;
  /** Everything that was written in all passes, with ballots and what only other steps read. */
  readonly documents: readonly {
    readonly id: string;
    /** The end of the id, and `stage/key@lane`: other verbs take either. */
    readonly shortId: string;
    readonly name: string;
    readonly stage: string;
    readonly key: string;
    readonly model: string;
    readonly lane: number;
    readonly iteration: number;
    readonly version: number;
    readonly path: string | null;
    readonly dataPath: string;
    readonly costUsd: number | null;
    readonly degraded: boolean;
    /** Who wrote it, or with which evidence, since its writer did not mend its citations; else null. */
    readonly rerun: string | null;
    /**
     * How its sentences are written, roughly: how many, words on average, and the share without a verb
     * (null where it is not in English). Null for what is not part of the result, or has little prose.
     */
    readonly style: Style | null;
  }[];
  /** `by` is `ballots`, `person`, or `default` where nothing was counted. */
  readonly chosen: (Chosen & { readonly text: string }) | null;
  /** How the lanes voted; null where there was no vote. */
  readonly vote: VoteView | null;
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedInputTokens: number;
    /** Null where the price of a model is unknown. */
    readonly costUsd: number | null;
    /** What replayed answers cost when recorded; null where none was replayed, or one is unknown. */
    readonly recordedCostUsd: number | null;
  };
  /** How many answers came from where: a model, a recorded run, the offline author. */
  readonly answers: Readonly<Record<'model' | 'recording' | 'offline', number>>;
  /** What it came to: what was decided, and what was not agreed on. */
  readonly outcome: Outcome;
  /** Whether the run went on without documents that it should have. */
  readonly degraded: boolean;
  /** How the documents of the pass cite; null where the project has no sources. */
  readonly citations: CitationReport | null;
  readonly missing: readonly Loss[];
  /** The same in sentences. */
  readonly missingText: readonly string[];
  readonly failures: readonly string[];
  /** The folder that the session is written to; null where none was named. */
  readonly folder: string | null;
  /** Why that folder is not up to date; null where it is, and where nothing was to be written. */
  readonly folderProblem: string | null;
  /**
   * What a person has changed in the folder: files that stand as they were changed, and under `edited/`
   * those that have new versions since.
   */
  readonly changedFiles: readonly string[];
};

export async function summarise(
  tx: Transaction,
  session: SessionView,
  { documents, missing, outcome, counts, citations }: Omit<ExportedSession, 'files'>,
): Promise<RunResult> {
  const [usage, stage, failures] = await Promise.all([
    readUsage(tx, session),
    session.status === 'draft' ? null : lastStage(tx, session),
    readFailures(tx, session),
  ]);
  return {
    session: session.id,
    status: session.status,
    standing: describeStanding(session),
    awaiting: session.awaiting && {
      reason: session.awaiting,
      stage: await lastStage(tx, session),
      until: session.untilStage,
      openQuestions: await countOpen(tx, session),
    },
    gates: session.gates,
    shortages: shortagesOf(session),
    iteration: session.iteration,
    stage,
    calls: counts.calls,
    documentCount: counts.documents,
    documents: documents.map((document) => ({
      id: document.id,
      shortId: shortId(document.id),
      name: nameOf({ ...document, lane: document.lane.ordinal }),
      stage: document.stage,
      key: document.key,
      model: document.lane.model,
      lane: document.lane.ordinal,
      iteration: document.iteration,
      version: document.version,
      path: document.path,
      dataPath: document.dataPath,
      costUsd: document.costUsd,
      degraded: document.missing.length > 0,
      rerun: document.rerun,
      style: document.style,
    })),
    ...viewChoice(session),
    usage: {
      inputTokens: usage.input,
      outputTokens: usage.output,
      cachedInputTokens: usage.cached,
      costUsd: toUsd(usage.cost),
      recordedCostUsd: toUsd(usage.recorded),
    },
    answers: { model: usage.model, recording: usage.recording, offline: usage.offline },
    outcome,
    degraded: missing.length > 0,
    citations,
    missing,
    missingText: describeMissing(session, missing),
    failures,
    folder: session.folder,
    folderProblem: null,
    changedFiles: [],
  };
}

/** Why jobs failed, once for each reason: participant, step by its name, and error. */
async function readFailures(tx: Transaction, { id, process }: SessionView): Promise<string[]> {
  const rows = await tx.query<
    Record<'message' | 'code', string> & Record<'model' | 'stage' | 'step', string | null>
  >(
    `select distinct l.model, r.stage_key as stage, j.step_key as step,
       j.error->>'message' as message, j.error->>'code' as code
     from jobs j left join lanes l on l.tenant_id = j.tenant_id and l.id = j.lane_id
     left join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
     where j.session_id = $1 and j.status = 'failed'
       and j.error->>'code' not in ('child_failed', 'quorum_missed', 'parent_ended',
         'prerequisite_failed') limit 20`,
    [id],
  );
  return rows.map(({ model, stage, step, message, code }) => {
    const steps = process.stages.find(({ key }) => key === stage)?.steps;
    const name = steps?.find(({ key }) => key === step)?.name ?? step;
    const who = [model, name].filter((part) => part !== null).join(', ');
    return `${who && `${who}: `}${message} (${code})`;
  });
}

/**
 * What the calls of a session used and cost, and how many answers came from where. Those of the
 * preflight and searches of the web are on the ledger alone.
 */
function readUsage(tx: Transaction, session: SessionView) {
  return tx.queryOne<
    Record<'input' | 'output' | 'cached' | 'model' | 'recording' | 'offline', number> &
      Record<'cost' | 'recorded', number | null>
  >(
    `with asked as (
       select coalesce(sum((p.details->'usage'->>'inputTokens')::bigint), 0) as input,
         coalesce(sum((p.details->'usage'->>'outputTokens')::bigint), 0) as output,
         coalesce(sum((p.details->'usage'->>'cachedInputTokens')::bigint), 0) as cached,
         bool_or(p.key like '%/preflight' and p.details->'price' = 'null') as unpriced,
         coalesce(sum((select -sum(e.amount) from entries e where e.tenant_id = p.tenant_id
           and e.posting_id = p.id and e.currency = 'USD' and e.amount < 0)), 0) as cost
       from postings p
       where p.session_id = $1
         and p.key in (p.call_id || '/preflight', p.call_id || '/search')
     )
     select (coalesce(sum(input_tokens), 0) + min(asked.input))::float8 as input,
       (coalesce(sum(output_tokens), 0) + min(asked.output))::float8 as output,
       (coalesce(sum(cached_input_tokens), 0) + min(asked.cached))::float8 as cached,
       case when bool_or(cost_micros is null and status in ('received', 'cut'))
           or bool_or(asked.unpriced) then null
         else (coalesce(sum(cost_micros), 0) + min(asked.cost))::float8 end as cost,
       case when bool_and(origin <> 'recording' or recorded_cost_micros is not null)
         then sum(recorded_cost_micros)::float8 end as recorded,
       count(contribution_id) filter (where origin = 'model') as model,
       count(contribution_id) filter (where origin = 'recording') as recording,
       count(contribution_id) filter (where origin = 'offline') as offline
     from asked left join model_calls on session_id = $1`,
    [session.id],
  );
}

const toUsd = (micros: number | null): number | null => (micros === null ? null : micros / 1e6);

/** Null where the run does not rest behind the stage that asks the requester. */
async function countOpen(tx: Transaction, session: SessionView): Promise<number | null> {
  if (session.awaiting !== 'review' || session.process.askStage === null) return null;
  if ((await lastStage(tx, session)) !== session.process.askStage) return null;
  const questions = await readQuestions(tx, session);
  return questions.filter(({ answers }) => answers.length === 0).length;
}

const shortagesOf = ({ gates, shortages, projectId }: SessionView): RunResult['shortages'] =>
  gates.flatMap((gate) => {
    const limit = shortages[gate];
    return limit ? [{ gate, ...limit, project: projectId }] : [];
  });

function viewChoice(session: SessionView): Pick<RunResult, 'chosen' | 'vote'> {
  const vote = viewVote(session);
  const lane = session.lanes.find(({ id }) => id === session.chosenLaneId);
  if (!lane || !session.chosenBy) return { chosen: null, vote };
  const chosen = { lane: lane.ordinal, model: lane.model, by: session.chosenBy };
  return { chosen: { ...chosen, text: tellChoice(chosen, vote, session.lanes.length) }, vote };
}
