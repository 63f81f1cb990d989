import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { describeDocument } from '../recipe/contract.ts';
import { quoteWord } from '../text/quote-word.ts';
import { simplifyName } from '../text/simplify-name.ts';
import type { SessionView } from './read.ts';

/** A document as people name it. */
type NamedDocument = {
  readonly id: string;
  readonly stage: string;
  readonly key: string;
  readonly lane: number;
};

type Row = NamedDocument & {
  readonly iteration: number;
  readonly superseded: boolean;
  readonly identity: string;
  /** The lane whose proposal it is on, where it belongs to a branch of the debate. */
  readonly origin: number | null;
};

const SHORT = 8;

/** The end of an id, which is its random part: enough to name it, and accepted by every verb. */
export const shortId = (id: string): string => id.slice(-SHORT);

/** `thesis/business_case@2`: stage, document key and lane. */
export const nameOf = ({ stage, key, lane }: Omit<NamedDocument, 'id'>): string =>
  `${stage}/${key}@${lane}`;

/** Finds a document of a stage by its id, the end of it, or one of its names. */
export async function findDocument(
  tx: Transaction,
  session: SessionView,
  stageKey: string,
  wanted: string,
): Promise<NamedDocument> {
  const rows = await readDocuments(tx, session);
  const current = rows.filter((row) => isNewest(row, rows));
  const named = current.filter((row) => isNamed(session, row, wanted));
  const found = named.length > 0 ? named : rows.filter((row) => endsWith(row, wanted));
  const [other] = found;
  if (!other) refuseUnknown(session, current, stageKey, wanted);
  const own = found.filter((row) => row.stage === stageKey);
  const [document] = own;
  if (!document) {
    throw new DialecticError(
      'usage_invalid',
      `${nameOf(other)} is a document of ${other.stage}, not of ${stageKey}. Say it there: dialectic feedback ${quoteWord(other.stage)} TEXT -d ${quoteWord(shortId(other.id))}`,
    );
  }
  if (own.length > 1) {
    const lines = own.map(describe).join('\n');
    throw new DialecticError(
      'usage_invalid',
      `${wanted} names ${own.length} documents of ${stageKey}. Take the id or the lane of one:\n${lines}`,
      { details: { candidates: own.map(({ id }) => id) } },
    );
  }
  return requireCurrent(document, rows);
}

/** One line that tells a document from its siblings. */
const describe = (row: Row): string =>
  `  ${shortId(row.id)}  ${nameOf(row)}${row.origin === null ? '' : ` (on the branch of lane ${row.origin})`}`;

/** What tells a person which documents a session has. */
export const adviseDocuments = (sessionId: string): string =>
  `\`dialectic show ${quoteWord(shortId(sessionId))} --all\` lists the documents.`;

function refuseUnknown(
  session: SessionView,
  current: readonly Row[],
  stageKey: string,
  wanted: string,
): never {
  const own = current.filter((row) => row.stage === stageKey);
  const has = own.length > 0 ? `has:\n${own.map(describe).join('\n')}` : 'has no documents yet.';
  throw new DialecticError(
    'not_found',
    `There is no document ${wanted}. The stage ${stageKey} ${has}`,
    { action: adviseDocuments(session.id) },
  );
}

function requireCurrent(row: Row, rows: readonly Row[]): Row {
  if (!row.superseded) return row;
  const now = rows.find((one) => one.identity === row.identity && !one.superseded);
  throw new DialecticError(
    'conflict',
    `${nameOf(row)} (${shortId(row.id)}) has a newer version${now ? `: ${shortId(now.id)}` : ''}.`,
  );
}

/** Of what a stage makes, the current version in the last pass that made it. */
const isNewest = (row: Row, rows: readonly Row[]): boolean =>
  !row.superseded &&
  !rows.some(
    (one) => one.stage === row.stage && one.key === row.key && one.iteration > row.iteration,
  );

function isNamed(session: SessionView, row: Row, wanted: string): boolean {
  return namesOf(session, row).includes(simplifyName(wanted));
}

/**
 * How a document may be called, simplified: key or title, alone or behind its stage, each also with
 * `@` and the number of its participant.
 */
export function namesOf(
  { process }: Pick<SessionView, 'process'>,
  { stage: stageKey, key, lane }: Pick<NamedDocument, 'stage' | 'key' | 'lane'>,
): string[] {
  const stage = process.stages.find((one) => one.key === stageKey);
  const step = stage?.steps.find(({ output }) => output.documentKey === key);
  const title = stage && step ? describeDocument(stage, step).title : key;
  const names = [key, title, `${stageKey}/${key}`, `${stage?.name ?? stageKey}/${title}`];
  return [...names, ...names.map((name) => `${name}@${lane}`)].map(simplifyName);
}

const LEAST_OF_AN_ID = 4;

const endsWith = (row: Row, wanted: string): boolean =>
  wanted.length >= LEAST_OF_AN_ID && row.id.endsWith(wanted.toLowerCase());

function readDocuments(tx: Transaction, { id }: SessionView): Promise<Row[]> {
  return tx.query<Row>(
    `select d.id, d.stage_key as stage, d.document_key as key, l.ordinal as lane, d.iteration,
       d.superseded, d.identity, (
         select min(r.ordinal) from documents o
         join lanes r on r.tenant_id = o.tenant_id and r.id = o.lane_id
         where o.tenant_id = d.tenant_id and o.session_id = d.session_id
           and o.contribution_id = d.source_group) as origin
     from documents d join lanes l on l.tenant_id = d.tenant_id and l.id = d.lane_id
     where d.session_id = $1 and d.document_key is not null
     order by d.iteration, d.identity`,
    [id],
  );
}
