import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { countWorkers } from '../jobs/workplaces.ts';
import { COUNTS, type Counts } from './counts.ts';
import { describeStanding } from './standing.ts';

/** A session as its row and those around it say. */
type SessionRow = Counts & {
  readonly id: string;
  readonly project: string;
  readonly projectId: string;
  /** Whether its project is archived. */
  readonly archived: boolean;
  readonly process: string;
  readonly status: string;
  readonly awaiting: 'review' | 'until' | null;
  readonly untilStage: string | null;
  readonly gates: readonly string[];
  readonly iteration: number;
  readonly models: readonly string[];
  readonly createdAt: Date;
  /** Whether it is dated after now: it was made by a clock that was ahead. */
  readonly ahead: boolean;
  /** The folder that it is written to; null where none was named. */
  readonly folder: string | null;
};

/** A session as a list shows it. */
export type ListedSession = SessionRow & {
  /** How many workers would go on with it at this moment. */
  readonly workers: number;
  /** Where it stands, in words: running, waiting for you, paused, stopped, and so on. */
  readonly standing: string;
};

/**
 * The sessions of a tenant, newest first; those of a clock that was ahead come last. Those of
 * archived projects are among them where `all` is true.
 */
export async function listSessions(
  database: Database,
  tenantId: string,
  all = false,
): Promise<ListedSession[]> {
  const rows = await database.asTenant(tenantId, (tx) => readRows(tx, all));
  const workers = await countWorkers(
    database,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const session = { ...row, workers: workers.get(row.id) ?? 0 };
    return { ...session, standing: describeStanding(session) };
  });
}

const readRows = (tx: Transaction, all: boolean): Promise<SessionRow[]> =>
  tx.query<SessionRow>(
    `select s.id, p.name as project, p.id as "projectId", p.archived_at is not null as archived,
       v.process_key as process, s.status,
       case when s.status = 'awaiting_review' then s.awaiting end as awaiting,
       s.until_stage as "untilStage", s.gates, s.iteration,
       array(select model from lanes l where l.tenant_id = s.tenant_id and l.session_id = s.id
         order by ordinal) as models,
       ${COUNTS},
       s.created_at as "createdAt", s.created_at > app_now() + interval '1 minute' as ahead,
       s.folder
     from sessions s
     join projects p on p.tenant_id = s.tenant_id and p.id = s.project_id
     join recipe_versions v on v.tenant_id = s.tenant_id and v.hash = s.recipe_hash
     where $1 or p.archived_at is null
     order by ahead, s.created_at desc, s.id desc`,
    [all],
  );

/** A session of a list by its id or the end of it; the newest where none is named. */
export function pickSession<Session extends { readonly id: string }>(
  sessions: readonly Session[],
  wanted: string | undefined,
): Session {
  const found = sessions.filter((one) => wanted === undefined || one.id.endsWith(wanted));
  const [newest] = found;
  if (!newest) throw new DialecticError('not_found', `There is no session ${wanted ?? 'yet'}.`);
  if (wanted !== undefined && found.length > 1) {
    throw new DialecticError('usage_invalid', `${wanted} is the end of ${found.length} ids.`);
  }
  return newest;
}
