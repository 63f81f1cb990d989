import type { Transaction } from '../db/database.ts';
import type { MeasuredStep } from './estimate-types.ts';

/** Older runs say less about the next one, and reading all of them would take ever longer. */
const MOST_RUNS = 20;
/** Requests of each model that are counted again, to compare with what was billed. */
const SAMPLES = 8;

/** What finished runs tell about one model. */
export type MeasuredModel = {
  readonly model: string;
  readonly repairRate: number;
  readonly cachedShare: number;
  /** The longest answer that the provider cut; null where none was. */
  readonly mostOutputTokens: number | null;
};

/** A request that was sent, and what the provider counted for it. */
export type CountedRequest = {
  readonly model: string;
  readonly texts: readonly string[];
  readonly inputTokens: number;
};

/** What the finished runs of a process have measured. */
export type RunHistory = {
  readonly steps: readonly MeasuredStep[];
  readonly models: readonly MeasuredModel[];
  readonly requests: readonly CountedRequest[];
};

/** Calls of the latest finished runs of the process that brought a text. */
const CALLS = `with runs as (
    select s.id from sessions s
    join recipe_versions v on v.tenant_id = s.tenant_id and v.hash = s.recipe_hash
    where s.tenant_id = $1 and v.process_key = $2 and s.status = 'completed'
    order by s.id desc limit ${MOST_RUNS}
  ), calls as (
    select m.*, j.chain_id, j.payload->'planned'->>'stage' as stage,
      j.payload->'planned'->>'step' as step
    from model_calls m join jobs j on j.tenant_id = m.tenant_id and j.id = m.job_id
    where m.tenant_id = $1 and m.session_id in (select id from runs)
      and m.contribution_id is not null
  )`;

/** Reads what finished runs of the process have measured, by step and model. */
export async function readHistory(
  tx: Transaction,
  tenantId: string,
  processKey: string,
): Promise<RunHistory> {
  const key = [tenantId, processKey];
  const steps = await tx.query<MeasuredStep>(
    `${CALLS}, answers as (
       select c.stage, c.step, c.model, count(distinct c.chain_id) as documents,
         count(distinct c.chain_id) + count(*) filter (where c.purpose = 'repair') as written,
         sum(c.output_tokens) as tokens, sum(length(b.body)) as chars
       from calls c
       join contributions t on t.tenant_id = c.tenant_id and t.id = c.contribution_id
       join blobs b on b.tenant_id = t.tenant_id and b.hash = t.blob_hash
       group by c.stage, c.step, c.model
     )
     select stage, step, model, documents, (tokens::float8 / written) as "outputTokens",
       (chars::float8 / written) as chars
     from answers where tokens > 0 and chars > 0`,
    key,
  );
  const models = await tx.query<MeasuredModel>(
    `${CALLS}
     select model,
       count(*) filter (where purpose = 'repair')::float8 / count(distinct chain_id)
         as "repairRate",
       coalesce(sum(cached_input_tokens)::float8 / nullif(sum(input_tokens), 0), 0)
         as "cachedShare",
       max(output_tokens) filter (where finish_reason = 'length') as "mostOutputTokens"
     from calls group by model`,
    key,
  );
  return { steps, models, requests: await readRequests(tx, key) };
}

async function readRequests(tx: Transaction, key: readonly string[]): Promise<CountedRequest[]> {
  const rows = await tx.query<{ model: string; body: string; tokens: number }>(
    `${CALLS}, numbered as (
       select model, request_hash, input_tokens,
         -- By hash, so that they come from all stages: late prompts are denser than early ones.
         row_number() over (partition by model order by request_hash) as place
       from calls where not usage_estimated and input_tokens > 0
     )
     select n.model, b.body, n.input_tokens as tokens from numbered n
     join blobs b on b.tenant_id = $1 and b.hash = n.request_hash where n.place <= ${SAMPLES}`,
    key,
  );
  return rows.map(({ model, body, tokens }) => {
    const { system, messages } = JSON.parse(body) as StoredRequest;
    return { model, texts: [system, ...messages.map((one) => one.content)], inputTokens: tokens };
  });
}

type StoredRequest = {
  readonly system: string;
  readonly messages: readonly { readonly content: string }[];
};
