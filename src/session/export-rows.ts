import type { Transaction } from '../db/transaction.ts';
import type { Loss } from '../planning/types.ts';
import { freezeDeep, SizedMemo } from '../text/memo.ts';
import type { CitationRecord } from './citation-record.ts';
import { type NamedFile, WITH_SIBLINGS } from './document-paths.ts';
import type { Asker } from './questions.ts';
import type { SessionView } from './read.ts';

/** A document as it is exported. */
export type DocumentRow = Head & Texts;

type Head = NamedFile & {
  id: string;
  /** Null for a prompt, which no step makes. */
  step_key: string | null;
  identity: string;
  kind: 'document' | 'header_context' | 'seed_prompt';
  source_group: string | null;
  contribution_id: string | null;
  anchor_id: string | null;
  inputs: { name: string; ids: string[] }[] | null;
  missing: Loss[];
  citations: CitationRecord | null;
  markdown_hash: string | null;
  chain_id: string | null;
  cost_micros: number | null;
  recorded_cost_micros: number | null;
  lacks_recorded_cost: boolean;
  is_offline: boolean;
};

type Texts = { readonly content: unknown; readonly markdown: string | null };

/** Some long debates: a run writes its folder after every stage, and most of it stays as it was. */
const MOST_CHARACTERS = 10_000_000;
const known = new SizedMemo<Texts>(MOST_CHARACTERS);

/** The documents of a session; texts that this process has read before are not read again. */
export async function readRows(tx: Transaction, { id }: SessionView): Promise<DocumentRow[]> {
  const heads = await readHeads(tx, id);
  const found = new Map<string, Texts>();
  for (const head of heads) {
    const texts = known.get(keyOf(tx, head));
    if (texts) found.set(head.id, texts);
  }
  const unknown = heads.filter((head) => !found.has(head.id));
  for (const { content, markdown, characters, ...place } of await readTexts(tx, unknown)) {
    const texts = { content: freezeDeep(content), markdown };
    known.keep(keyOf(tx, place), texts, characters);
    found.set(place.id, texts);
  }
  // One that was erased since has no texts.
  return heads.flatMap((head) => {
    const texts = found.get(head.id);
    return texts ? [{ ...head, ...texts }] : [];
  });
}

/** A document that is stored never changes, but for its page, which has another hash then. */
const keyOf = (
  { tenantId }: Transaction,
  { id, markdown_hash }: Pick<Head, 'id' | 'markdown_hash'>,
): string => `${tenantId}/${id}/${markdown_hash}`;

type TextRow = Texts & Pick<Head, 'id' | 'markdown_hash'> & { readonly characters: number };

const readTexts = async (tx: Transaction, heads: readonly Head[]): Promise<TextRow[]> =>
  heads.length === 0
    ? []
    : tx.query<TextRow>(
        `select d.id, d.markdown_hash, d.content, b.body as markdown,
           coalesce(length(d.content::text), 0) + coalesce(length(b.body), 0) as characters
         from documents d
         left join blobs b on b.tenant_id = d.tenant_id and b.hash = d.markdown_hash
         where d.id = any ($1)`,
        [heads.map(({ id }) => id)],
      );

const readHeads = (tx: Transaction, sessionId: string): Promise<Head[]> =>
  tx.query<Head>(
    `select d.id, d.kind, d.iteration, d.stage_key, d.step_key, d.document_key, d.identity,
       d.lane_id, d.version, d.source_group, d.contribution_id, d.anchor_id, d.inputs, d.missing,
       d.citations, d.markdown_hash,
       j.responding_lane_id, j.chain_id, s.siblings,
       -- What code makes has no calls and costs nothing.
       case when c.chain_id is null then 0 when c.known then c.cost end as cost_micros,
       case when not c.unrecorded then c.recorded end as recorded_cost_micros,
       coalesce(c.unrecorded, false) as lacks_recorded_cost,
       coalesce(c.offline, false) as is_offline
     from documents d
     left join jobs j on j.tenant_id = d.tenant_id and j.id = d.job_id
     ${WITH_SIBLINGS}
     left join (
       select k.chain_id, sum(m.cost_micros)::float8 as cost,
         sum(m.recorded_cost_micros)::float8 as recorded,
         bool_or(m.origin = 'recording' and m.recorded_cost_micros is null) as unrecorded,
         bool_or(m.origin = 'offline' and m.contribution_id is not null) as offline,
         bool_and(m.cost_micros is not null or m.status = 'failed') as known
       from model_calls m join jobs k on k.tenant_id = m.tenant_id and k.id = m.job_id
       where m.session_id = $1 group by k.chain_id
     ) c on c.chain_id = j.chain_id
     where d.session_id = $1 and not d.superseded
     order by d.iteration, d.identity`,
    [sessionId],
  );

/** The documents that may ask something: prompts and plans of stages ask nothing. */
export const askersOf = ({ lanes }: SessionView, rows: readonly DocumentRow[]): Asker[] =>
  rows.flatMap((row) => {
    const lane = lanes.find(({ id }) => id === row.lane_id);
    const { id, kind, stage_key, step_key, document_key, identity, iteration, content } = row;
    if (kind !== 'document' || step_key === null || !lane) return [];
    const place = { stage: stage_key, step: step_key, key: document_key, lane: lane.ordinal };
    return [{ id, ...place, identity, iteration, content }];
  });
