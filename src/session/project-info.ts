import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { findProject } from './project.ts';

/** A project with how much it holds and when it was last used. */
export type ProjectInfo = {
  readonly id: string;
  readonly name: string;
  readonly archivedAt: Date | null;
  readonly sessions: number;
  /** Sessions that are running or paused. */
  readonly running: number;
  /** Versions of documents. */
  readonly documents: number;
  /** When a session was started, a job of one ended or feedback was given. */
  readonly lastUsedAt: Date;
};

/** One project, or all of the tenant: those first that were not used for longest. */
const readProjects = (tx: Transaction, id: string | null = null): Promise<ProjectInfo[]> =>
  tx.query<ProjectInfo>(
    `select p.id, p.name, p.archived_at as "archivedAt", count(s.id) as sessions,
       count(s.id) filter (where s.status = 'running') as running,
       coalesce(sum(d.count), 0)::int as documents,
       greatest(p.created_at, max(s.created_at), max(j.last), max(f.last)) as "lastUsedAt"
     from projects p
     left join sessions s on s.project_id = p.id
     left join lateral (select count(*) from documents d
       where d.session_id = s.id and d.kind = 'document') as d on true
     left join lateral (select max(j.finished_at) as last from jobs j
       where j.session_id = s.id) as j on true
     left join lateral (select max(f.created_at) as last from feedback f
       where f.session_id = s.id) as f on true
     where $1::uuid is null or p.id = $1
     group by p.tenant_id, p.id order by "lastUsedAt", p.id`,
    [id],
  );

/** Projects in which nothing happened for so many days, those first that were unused for longest. */
export async function readUnusedProjects(tx: Transaction, days: number): Promise<ProjectInfo[]> {
  const { before } = await tx.queryOne<{ before: Date }>(
    'select app_now() - make_interval(days => $1) as before',
    [days],
  );
  return (await readProjects(tx)).filter(({ lastUsedAt }) => lastUsedAt < before);
}

/** A project by its name, its id or the end of it. */
export async function readProject(tx: Transaction, wanted: string): Promise<ProjectInfo> {
  const [project] = await readProjects(tx, await findProject(tx, wanted));
  if (!project) throw new DialecticError('not_found', `There is no project ${wanted}.`);
  return project;
}

/** Hides a project and its sessions from lists, or shows them again; nothing else changes. */
export async function setArchived(tx: Transaction, wanted: string, isArchived: boolean) {
  const id = await findProject(tx, wanted);
  await tx.query(
    `update projects set archived_at = case when $2 then coalesce(archived_at, app_now()) end
     where id = $1`,
    [id, isArchived],
  );
  return readProject(tx, id);
}
