import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { costMicros, type ModelPrice } from '../models/prices.ts';
import type { TokenUsage } from '../models/types.ts';
import { toUsd } from './amounts.ts';
import { type LedgerEntry, readSessionEntries } from './balances.ts';
import { SEARCH } from './search-charges.ts';
import { PREFLIGHT } from './session-preflight.ts';

/** One call to a model with where it belongs and what it cost. */
export type CallCostRow = {
  readonly id: string;
  readonly model: string;
  readonly purpose: string;
  readonly status: string;
  readonly stage: string;
  readonly step: string;
  readonly document: string;
  readonly lane: number;
  /** The document's place in the debate: calls with the same one wrote the same document. */
  readonly identity: string;
  /** Whether it was made only because too few statements of a document cite a source. */
  readonly forSources: boolean;
  readonly posting: number | null;
  readonly estimated: boolean;
  readonly usage: TokenUsage | null;
  /** The provider's own name for the answer. */
  readonly responseId: string | null;
  readonly price: ModelPrice | null;
  /** What the ledger says that it cost, refunds taken off. */
  readonly usdMicros: number;
  readonly tokens: number;
};

/** What calls can be added up by. */
type Trait = 'stage' | 'step' | 'document' | 'model' | 'lane' | 'identity';

type Sum = { calls: number; usd: number; tokens: number };

/** The worst case of a call without an answer. */
type Hold = {
  readonly call: string;
  readonly usd: number;
  readonly tokens: number;
  /** False where its worker is gone: then the hold stays until the session goes on or ends. */
  readonly underWay: boolean;
};

/** A hold with the worker that has its job; work that is no job's is settled by who does it. */
type HeldCall = Omit<Hold, 'underWay'> & {
  readonly isOfJob: boolean;
  readonly worker: string | null;
};

type ReadCosts = Omit<CostReport, 'holds'> & { readonly holds: readonly HeldCall[] };

/** Where the money of a session went. */
export type CostReport = ReturnType<typeof summariseCosts> & {
  readonly session: string;
  readonly holds: readonly Hold[];
  readonly entries: readonly (LedgerEntry & { readonly usd: number | null })[];
};

/**
 * Explains what a session cost, from the ledger, line by line. Requests that never left are no calls.
 */
export async function reportCosts(tx: Transaction, sessionId: string): Promise<ReadCosts> {
  const calls = await readCalls(tx, sessionId);
  const entries = await readSessionEntries(tx, sessionId);
  const holds = await tx.query<HeldCall>(
    `select h.call_id as call, h.usd::float8 as usd, h.tokens::float8 as tokens,
       j.id is not null as "isOfJob", j.worker_id as worker
     from holds h
     left join model_calls c on c.tenant_id = h.tenant_id and c.id = h.call_id
     left join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
     where h.session_id = $1 and h.status = 'held' order by h.created_at, h.call_id`,
    [sessionId],
  );
  return {
    session: sessionId,
    ...summariseCosts(calls),
    holds: holds.map((hold) => ({ ...hold, usd: toUsd(hold.usd) })),
    entries: entries.map((entry) => ({
      ...entry,
      usd: entry.currency === 'USD' ? toUsd(entry.amount) : null,
    })),
  };
}

/** Tells calls under way from those that a dead worker has left. */
export async function markLeft(database: Database, report: ReadCosts): Promise<CostReport> {
  const workers = report.holds.map(({ worker }) => worker ?? '');
  const alive = workers.length === 0 ? [] : await database.driver.countPresent(workers);
  const holds = report.holds.map(({ call, usd, tokens, isOfJob }, at) => ({
    call,
    usd,
    tokens,
    underWay: !isOfJob || alive[at]! > 0,
  }));
  return { ...report, holds };
}

/** Adds calls up by everything that they can be looked at by. */
export function summariseCosts(calls: readonly CallCostRow[]) {
  const of = (purposes: readonly string[]): Sum =>
    addUp(calls.filter((call) => purposes.includes(call.purpose)));
  const unanswered = calls.filter((call) => call.status === 'failed' && call.posting === null);
  const saved = calls.reduce((sum, call) => sum + cacheSaving(call), 0);
  const groups = (keys: readonly Trait[], by = keys) =>
    [...Map.groupBy(calls, (call) => by.map((key) => call[key]).join('/')).values()].map(
      (group) => ({
        ...(Object.fromEntries(keys.map((key) => [key, group[0]![key]])) as Partial<CallCostRow>),
        ...addUp(group),
      }),
    );
  const unpriced = calls.filter(
    (call) => call.posting !== null && call.price === null && call.purpose !== SEARCH,
  );
  return {
    currency: 'USD' as const,
    total: addUp(calls).usd,
    totalMicros: calls.reduce((sum, call) => sum + call.usdMicros, 0),
    tokens: addUp(calls).tokens,
    byStage: groups(['stage']),
    byModel: groups(['model']),
    byStep: groups(['stage', 'step']),
    byDocument: groups(['stage', 'step', 'document', 'model', 'lane'], ['identity']),
    /** Requests to correct an answer, and requests that brought none, which cost nothing. */
    retries: { ...of(['repair']), unanswered: unanswered.length },
    /** Of these and of continuations, what was asked only because too few sources were cited. */
    askedForSources: addUp(calls.filter((call) => call.forSources)),
    continuation: of(['continuation']),
    compression: of(['compression', 'embedding']),
    /** Short calls that asked before the run, or before it went on, whether its models answer. */
    preflight: of([PREFLIGHT]),
    /** Searches of the web, at list price. */
    searches: of([SEARCH]),
    cachedInputSaved: toUsd(saved),
    estimated: addUp(calls.filter((call) => call.estimated)),
    unknownPrices: [...new Set(unpriced.map((call) => call.model))],
    calls: calls.map(({ usdMicros, ...call }) => ({ ...call, usd: toUsd(usdMicros) })),
  };
}

function addUp(calls: readonly CallCostRow[]): Sum {
  return {
    calls: calls.length,
    usd: toUsd(calls.reduce((sum, call) => sum + call.usdMicros, 0)),
    tokens: calls.reduce((sum, call) => sum + call.tokens, 0),
  };
}

/** What the same call would have cost more without the provider's cache. */
function cacheSaving({ usage, price }: CallCostRow): number {
  if (!usage || !price) return 0;
  return costMicros({ ...usage, cachedInputTokens: 0 }, price) - costMicros(usage, price);
}

/** Calls that a job made, and preflight and searches, which are on the ledger alone. */
function readCalls(tx: Transaction, sessionId: string) {
  return tx.query<CallCostRow>(
    `with made as (
       select c.id, c.model, c.purpose, c.status, c.started_at, r.stage_key as stage,
         j.step_key as step, j.document_key as document, coalesce(l.ordinal, 0) as lane,
         coalesce(j.document_identity, j.chain_id::text) as identity,
         j.payload ? 'uncited' as for_sources
       from model_calls c
       join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
       left join stage_runs r on r.tenant_id = c.tenant_id and r.id = j.stage_run_id
       left join lanes l on l.tenant_id = c.tenant_id and l.id = j.lane_id
       where c.session_id = $1 and c.status <> 'sent' and was_sent(c.error)
       union all
       select q.call_id, q.details->>'model', w.purpose, 'received', q.created_at, w.purpose,
         w.purpose, w.purpose, 0, w.purpose, false
       from postings q join unnest($2::text[]) as w (purpose) on q.key = q.call_id || '/' || w.purpose
       where q.session_id = $1
     )
     select c.id, c.model, c.purpose, c.status, c.stage, c.step, c.document, c.lane, c.identity,
       c.for_sources as "forSources",
       p.id as posting, coalesce(p.estimated, false) as estimated, p.details->'usage' as usage,
       p.details->>'responseId' as "responseId",
       nullif(p.details->'price', 'null') as price,
       coalesce(e.usd, 0)::float8 as "usdMicros", coalesce(e.tokens, 0)::float8 as tokens
     from made c
     left join postings p on p.session_id = $1 and p.call_id = c.id and p.kind = 'call'
     left join lateral (
       select sum(s.amount) filter (where s.currency = 'USD') as usd,
         sum(s.amount) filter (where s.currency = 'token') as tokens
       from postings q join entries s on s.tenant_id = q.tenant_id and s.posting_id = q.id
       join accounts a on a.tenant_id = s.tenant_id and a.id = s.account_id and a.kind = 'provider'
       where q.tenant_id = p.tenant_id and (q.id = p.id or q.refunds = p.id)) as e on true
     order by c.started_at, c.id`,
    [sessionId, [PREFLIGHT, SEARCH]],
  );
}
