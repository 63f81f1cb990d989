import type { Transaction } from '../db/transaction.ts';
import type { MeasuredStep } from './types.ts';

/** Older runs say less about the next one, and reading all of them would take ever longer. */
const MOST_RUNS = 20;

/** What finished runs tell about one model. */
type MeasuredModel = {
  readonly model: string;
  readonly repairRate: number;
  readonly cachedShare: number;
  /** The longest answer that the provider cut; null where none was. */
  readonly mostOutputTokens: number | null;
  /** Its tokens for one of the tokenizer; null where the provider never told. */
  readonly tokenFactor: number | null;
};

/** What the finished runs of a process have measured. */
export type RunHistory = {
  readonly steps: readonly MeasuredStep[];
  readonly models: readonly MeasuredModel[];
};

type Count = (text: string) => number;

/**
 * Calls of the latest finished runs of the process that brought a text. A replay measures nothing:
 * its answers are those of another run.
 */
const CALLS = `with runs as (
    select s.id from sessions s
    join recipe_versions v on v.tenant_id = s.tenant_id and v.hash = s.recipe_hash
    where v.process_key = $1
      and (s.status = 'completed' or s.status = 'awaiting_review' and s.awaiting = 'until')
      and not exists (select from lanes l where l.tenant_id = s.tenant_id and l.session_id = s.id
        and l.model like 'recorded/%')
    order by s.id desc limit ${MOST_RUNS}
  ), calls as (
    select m.*, j.chain_id, r.stage_key as stage, j.step_key as step
    from model_calls m join jobs j on j.tenant_id = m.tenant_id and j.id = m.job_id
    join stage_runs r on r.tenant_id = j.tenant_id and r.id = j.stage_run_id
    where m.session_id in (select id from runs)
      and m.contribution_id is not null
  )`;

/** Reads what finished runs of the process have measured; `count` is the plain tokenizer. */
export async function readHistory(
  tx: Transaction,
  processKey: string,
  count: Count,
): Promise<RunHistory> {
  return {
    steps: await readSteps(tx, processKey, count),
    models: await readModels(tx, processKey),
  };
}

type StepRow = Omit<MeasuredStep, 'contentTokens'> & {
  readonly chars: number;
  readonly sample: string;
};

/** Samples one document of each step and model. */
async function readSteps(tx: Transaction, processKey: string, count: Count) {
  const rows = await tx.query<StepRow>(
    `${CALLS}, answers as (
       select stage, step, model, sum(output_tokens)::float8
         / (count(distinct chain_id) + count(*) filter (where purpose = 'repair')) as tokens
       from calls group by stage, step, model
     ), written as (
       select d.stage_key as stage, d.step_key as step, l.model, count(*) as documents,
         avg(length(d.content::text))::float8 as chars, max(d.id::text) as latest
       from documents d join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
       where d.session_id in (select id from runs) and d.version = 1
       group by d.stage_key, d.step_key, l.model
     )
     select w.stage, w.step, w.model, w.documents, w.chars, a.tokens as "outputTokens",
       d.content::text as sample
     from written w join answers a using (stage, step, model)
     join documents d on d.id = w.latest::uuid
     where a.tokens > 0`,
    [processKey],
  );
  return rows.map(({ chars, sample, ...row }): MeasuredStep => {
    const contentTokens = (count(sample) * chars) / sample.length;
    return { ...row, contentTokens };
  });
}

async function readModels(tx: Transaction, processKey: string) {
  const rows = await tx.query<Omit<MeasuredModel, 'tokenFactor'>>(
    `${CALLS}
     select model,
       count(*) filter (where purpose = 'repair')::float8 / count(distinct chain_id)
         as "repairRate",
       coalesce(sum(cached_input_tokens)::float8 / nullif(sum(input_tokens), 0), 0)
         as "cachedShare",
       (max(output_tokens) filter (where finish_reason = 'length'))::float8
         as "mostOutputTokens"
     from calls group by model`,
    [processKey],
  );
  const factors = await readTokenFactors(tx, processKey);
  return rows.map(
    (row): MeasuredModel => ({
      ...row,
      tokenFactor: factors.get(row.model) ?? null,
    }),
  );
}

/** What providers counted for the requests, for each token that the tokenizer counted. */
async function readTokenFactors(tx: Transaction, processKey: string) {
  const rows = await tx.query<{ model: string; factor: number }>(
    `${CALLS}
     select model, sum(input_tokens)::float8 / sum(counted_tokens) as factor from calls
     where not usage_estimated and input_tokens > 0 and counted_tokens > 0
     group by model`,
    [processKey],
  );
  return new Map(rows.map(({ model, factor }) => [model, factor]));
}
