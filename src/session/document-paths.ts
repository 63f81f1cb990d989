import type { Transaction } from '../db/transaction.ts';
import { nameAuthors } from '../documents/authors.ts';
import { type Author, constructPath, type Relation, type Work } from '../documents/paths.ts';
import { DialecticError } from '../errors/errors.ts';
import type { SessionView } from './read.ts';

/** What the name of a document's file is made of. */
export type NamedFile = {
  readonly iteration: number;
  readonly stage_key: string;
  readonly document_key: string;
  readonly lane_id: string;
  readonly version: number;
  readonly responding_lane_id: string | null;
  /** How many documents of this key the stage plans for the lane; null where no job made it. */
  readonly siblings: number | null;
};

/**
 * Joins, as `s`, how many documents of one key a stage plans for a lane. The jobs of a step are inserted
 * together, so that a file has its final name before its siblings are written.
 */
export const WITH_SIBLINGS = `left join (
  select stage_run_id, lane_id, document_key, count(distinct document_identity) as siblings
  from jobs where session_id = $1 and document_key is not null
  group by stage_run_id, lane_id, document_key
) s on s.stage_run_id = j.stage_run_id and s.lane_id = j.lane_id
  and s.document_key = j.document_key`;

/** The place of a document in the folder; `originLaneId` is the lane on whose proposal it is. */
export function workOf(
  session: SessionView,
  row: NamedFile,
  originLaneId: string | null | undefined,
): Work {
  return {
    session: session.id.slice(-12),
    iteration: row.iteration,
    stageNumber: session.process.stages.findIndex(({ key }) => key === row.stage_key) + 1,
    stage: row.stage_key,
    author: authorOf(session, row.lane_id),
    relation: relationOf(session, row, originLaneId),
    attempt: row.version,
    documentKey: row.document_key,
  };
}

/** The paths of rendered documents within the folder, by their ids. */
export async function readPaths(
  tx: Transaction,
  session: SessionView,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<NamedFile & { id: string; origin_lane_id: string | null }>(
    `select d.id, d.iteration, d.stage_key, d.document_key, d.lane_id, d.version,
       j.responding_lane_id, s.siblings, (
         select o.lane_id from documents o
         where o.session_id = $1 and o.contribution_id = d.source_group and not o.superseded limit 1
       ) as origin_lane_id
     from documents d
     left join jobs j on j.tenant_id = d.tenant_id and j.id = d.job_id
     ${WITH_SIBLINGS}
     where d.session_id = $1 and d.id = any ($2) and d.kind = 'document'`,
    [session.id, ids],
  );
  return new Map(
    rows.map((row) => {
      const work = workOf(session, row, row.origin_lane_id);
      return [row.id, constructPath({ kind: 'document', format: 'md', ...work })];
    }),
  );
}

function authorOf({ lanes }: SessionView, laneId: string): Author {
  const at = lanes.findIndex(({ id }) => id === laneId);
  const author = nameAuthors(lanes.map(({ model }) => model))[at];
  if (!author) throw new DialecticError('not_found', `There is no lane ${laneId}.`);
  return author;
}

/** Where a lane makes a document more than once in a stage, the name says on what. */
function relationOf(
  session: SessionView,
  { siblings, responding_lane_id }: NamedFile,
  originLaneId: string | null | undefined,
): Relation | null {
  if ((siblings ?? 1) < 2 || !originLaneId) return null;
  const source = authorOf(session, originLaneId);
  if (responding_lane_id === null) return { kind: 'critiquing', source };
  return { kind: 'from', sources: [source, authorOf(session, responding_lane_id)] };
}
