import type { Transaction } from '../../src/db/transaction.ts';
import { readRequests } from '../../src/documents/requests.ts';
import type { PlannedCall } from './plan.ts';

type CallRow = {
  id: string;
  job_id: string;
  chain_id: string;
  model: string;
  stage: string;
};
type DocumentRow = { id: string; job_id: string | null; chain_id: string; inputs: string[] };

/**
 * The calls of a finished debate with what each one needs: the calls behind the documents that it
 * was given, through those that code has made from others, the earlier call of its own chain, and
 * every call of the stage before, since a stage opens when the one before it is over.
 */
export async function readPlanOf(tx: Transaction, session: string): Promise<PlannedCall[]> {
  const calls = await tx.query<CallRow>(
    `select m.id, m.job_id, j.chain_id, m.model, r.stage_key as stage
     from model_calls m join jobs j on j.id = m.job_id
     join stage_runs r on r.id = j.stage_run_id
     where m.session_id = $1 order by r.iteration, m.started_at, m.id`,
    [session],
  );
  const documents = await tx.query<DocumentRow>(
    `select d.id, d.job_id, coalesce(j.chain_id, d.id) as chain_id, coalesce((
       select json_agg(i.id) from jsonb_array_elements(d.inputs) as p,
         jsonb_array_elements_text(p->'ids') as i (id)), '[]') as inputs
     from documents d left join jobs j on j.id = d.job_id where d.session_id = $1`,
    [session],
  );
  const requests = await readRequests(tx, session);
  const byChain = Map.groupBy(calls, (call) => call.chain_id);
  const byId = new Map(documents.map((document) => [document.id, document]));
  const inputsOf = new Map(documents.map(({ chain_id, inputs }) => [chain_id, inputs]));
  /** The last call behind a document; behind one that code made, those behind its inputs. */
  const behind = (id: string): string[] => {
    const document = byId.get(id);
    if (!document) return [];
    const last = byChain.get(document.chain_id)?.at(-1);
    return last ? [last.id] : document.inputs.flatMap(behind);
  };
  const stages = [...new Set(calls.map(({ stage }) => stage))];
  return calls.map((call) => {
    const chain = byChain.get(call.chain_id) ?? [];
    const earlier = chain[chain.indexOf(call) - 1];
    const before = stages[stages.indexOf(call.stage) - 1];
    const needs = earlier
      ? [earlier.id]
      : [
          ...(inputsOf.get(call.chain_id) ?? []).flatMap(behind),
          ...calls.filter(({ stage }) => stage === before).map(({ id }) => id),
        ];
    const { system, messages } = requests.get(call.id)!;
    return {
      id: call.id,
      needs: [...new Set(needs)],
      model: call.model.split('/')[1]!,
      messages: [{ role: 'system', content: system }, ...messages],
    };
  });
}
