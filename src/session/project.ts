import { hash } from 'node:crypto';
import type { Transaction } from '../db/transaction.ts';
import { readBlob, saveBlob } from '../documents/blobs.ts';
import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Overlay } from '../recipe/types.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { quoteWord } from '../text/quote-word.ts';
import type { NewResource, NewRun } from './start.ts';

/** A run with the id of its project, or null where the project is yet to be made. */
type PlacedRun = NewRun & { readonly projectId: string | null };

type ProjectRow = {
  id: string;
  name: string;
  domain: string | null;
  brief_hash: string;
  overlay: Overlay | null;
  archived_at: Date | null;
};

/** A project by its name, its id or the end of it. */
export async function findProject(tx: Transaction, wanted: string) {
  const rows = await projectsCalled(tx, wanted);
  if (rows.length > 1) throw ambiguous(wanted, rows);
  const [project] = rows;
  if (project) return project.id;
  throw new DialecticError('not_found', `There is no project ${wanted}.`);
}

/** The rows are locked against being erased until the transaction ends. */
const projectsCalled = (tx: Transaction, wanted: string) =>
  tx.query<ProjectRow>(
    `select id, name, domain, brief_hash, overlay, archived_at from projects
     where (name = $1 or right(id::text, greatest(8, length($1))) = $1
       -- As dialectic list tells apart what was named alike.
       or id in (select n.id from (
           select id, name || ' #' || row_number() over (partition by name order by id)
             as numbered from projects) n
         where n.numbered = $1))
     order by id for key share`,
    [wanted],
  );

/**
 * Puts a run into the project that it names: what the run leaves out (brief, material, domain,
 * overlay) is the project's. What contradicts the project is refused, since its other sessions
 * read the same rows. A name that no project has yet becomes a new project.
 */
export async function placeRun(tx: Transaction, run: NewRun): Promise<PlacedRun> {
  if (!run.project) return { ...run, projectId: null };
  const wanted = run.project;
  // Two runs that start together with one new name share one project.
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [
    `${tx.tenantId}/${wanted}`,
  ]);
  const rows = await projectsCalled(tx, wanted);
  if (rows.length > 1) throw ambiguous(wanted, rows);
  const [project] = rows;
  if (!project) return { ...run, name: wanted, projectId: null };
  if (project.archived_at) {
    const help = `Bring it back first with: dialectic project unarchive ${quoteWord(project.id)}`;
    throw new DialecticError('conflict', `Project ${project.name} is archived. ${help}`);
  }
  const resources = await readResources(tx, project.id);
  refuseChanges(run, project, resources);
  return {
    ...run,
    projectId: project.id,
    name: project.name,
    domain: project.domain,
    brief: await readBlob(tx, project.brief_hash),
    resources,
    projectOverlay: project.overlay,
  };
}

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

function refuseChanges(run: NewRun, project: ProjectRow, resources: readonly NewResource[]): void {
  const { brief, domain, projectOverlay } = run;
  const changed: string[] = [];
  if (brief !== '' && hash('sha256', brief, 'hex') !== project.brief_hash) changed.push('brief');
  if (domain && domain !== project.domain) changed.push('domain');
  if (projectOverlay && !same(projectOverlay, project.overlay)) changed.push('overlay');
  for (const one of run.resources ?? []) {
    if (!resources.some((known) => same(known, one)))
      changed.push(`resource ${one.kind}=${one.name}`);
  }
  if (changed.length === 0) return;
  throw new DialecticError(
    'conflict',
    `Project ${project.name} has another ${changed.join(', ')}. Its sessions share what it holds: ` +
      `leave that out to use the project's, or name another --project.`,
    { details: { project: project.id, changed } },
  );
}

function ambiguous(wanted: string, rows: readonly ProjectRow[]): DialecticError {
  const ids = rows.map(({ id }) => id).join(', ');
  const lines = rows.map(({ id, name }, at) => `  ${id}  ${name} #${at + 1}`).join('\n');
  const message = `${rows.length} projects are called ${wanted}. Name one by its number or id:\n${lines}`;
  return new DialecticError('usage_invalid', message, {
    action: '`dialectic list --all` shows the sessions of each.',
    details: { projects: ids },
  });
}

async function readResources(tx: Transaction, projectId: string) {
  return tx.query<NewResource>(
    `select r.kind, r.name, b.body as text from resources r
     join blobs b on b.tenant_id = r.tenant_id and b.hash = r.blob_hash
     where r.project_id = $1 order by r.kind, r.name, r.id`,
    [projectId],
  );
}

/** Saves the project of a run that no project holds yet. */
export async function saveProject(tx: Transaction, run: NewRun): Promise<string> {
  const id = newId();
  await tx.query(
    `insert into projects (tenant_id, id, name, domain, brief_hash, overlay)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      tx.tenantId,
      id,
      run.name,
      run.domain ?? null,
      await saveBlob(tx, run.brief),
      run.projectOverlay ? JSON.stringify(run.projectOverlay) : null,
    ],
  );
  for (const resource of run.resources ?? []) {
    const blob = await saveBlob(tx, resource.text);
    await tx.query(
      `insert into resources (tenant_id, id, project_id, kind, name, blob_hash)
       values ($1, $2, $3, $4, $5, $6)`,
      [tx.tenantId, newId(), id, resource.kind, resource.name, blob],
    );
  }
  return id;
}
