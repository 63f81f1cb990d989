import type { TenantQueries } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { isId } from '../platform/ids.ts';
import { mergeOverlays } from '../recipe/overlays.ts';
import type { PromptFacts, ResourceKind } from '../recipe/render-prompt.ts';
import type { Overlay, Process } from '../recipe/types.ts';
import type { Day } from '../text/day.ts';
import type { Vote } from './converge.ts';
import { loadRecipe } from './recipe-store.ts';

/** As the wallet notes it. */
type Shortage = { readonly scope: string; readonly currency: string };

export type SessionLane = { readonly id: string; readonly ordinal: number; readonly model: string };

/** A session with what every part of the flow needs to know of it. */
export type SessionView = {
  readonly id: string;
  readonly status: string;
  /** Why it rests between two stages: for a person's review, or because `untilStage` is reached. */
  readonly awaiting: 'review' | 'until' | null;
  readonly gates: readonly string[];
  /** By gate: the limit that closed it, where one did. */
  readonly shortages: Readonly<Record<string, Shortage | null>>;
  readonly projectId: string;
  readonly iteration: number;
  readonly reviewStages: boolean;
  readonly allowDegraded: boolean;
  readonly untilStage: string | null;
  readonly writerLaneId: string | null;
  readonly chosenLaneId: string | null;
  readonly chosenBy: 'ballots' | 'person' | 'default' | null;
  /** How the lanes voted in this pass; null before its end and where there was no vote. */
  readonly vote: Vote | null;
  readonly process: Process;
  readonly lanes: readonly SessionLane[];
  readonly overlay: Overlay | null;
  /** The day that prompts call today (YYYY-MM-DD), in every pass; null where none is known. */
  readonly date: Day | null;
  /** The folder that it is written to, on the machine that named it; null where none was named. */
  readonly folder: string | null;
  /** How many workers would go on with it at this moment; null where nobody has looked. */
  readonly workers: number | null;
};

/** A session with the number of one of its passes. */
export type Pass = Pick<SessionView, 'id' | 'iteration'>;

type SessionRow = {
  status: string;
  awaiting: 'review' | 'until' | null;
  overlay: Overlay | null;
  session_date: string | null;
  gates: string[];
  shortages: Record<string, Shortage | null>;
  project_id: string;
  iteration: number;
  review_stages: boolean;
  allow_degraded: boolean;
  until_stage: string | null;
  writer_lane_id: string | null;
  chosen_lane_id: string | null;
  chosen_by: SessionView['chosenBy'];
  vote: Vote | null;
  recipe_hash: string;
  recipe_saved_by: string;
  folder: string | null;
};

const unknownSession = (id: string): DialecticError =>
  new DialecticError('not_found', `There is no session ${id}.`);

/** Refuses what no session can have as its id, before the database refuses it as a value. */
export function requireSessionId(id: string): void {
  if (!isId(id)) throw unknownSession(id);
}

export async function readSession(tx: TenantQueries, id: string): Promise<SessionView> {
  requireSessionId(id);
  const found = tx.query<SessionRow>(
    `select s.status, s.awaiting, s.overlay, s.gates, s.shortages, s.project_id, s.iteration,
       s.review_stages, s.allow_degraded, s.until_stage, s.writer_lane_id, s.chosen_lane_id,
       s.chosen_by, s.vote, s.recipe_hash, v.xmin::text as recipe_saved_by, s.folder,
       s.session_date
     from sessions s
     join recipe_versions v on v.tenant_id = s.tenant_id and v.hash = s.recipe_hash
     where s.id = $1`,
    [id],
    'read-session',
  );
  const members = tx.query<SessionLane>(
    'select id, ordinal, model from lanes where session_id = $1 order by ordinal',
    [id],
    'read-lanes',
  );
  const [[row], lanes] = await Promise.all([found, members]);
  if (!row) throw unknownSession(id);
  return {
    id,
    status: row.status,
    awaiting: row.status === 'awaiting_review' ? row.awaiting : null,
    gates: row.gates,
    shortages: row.shortages,
    projectId: row.project_id,
    iteration: row.iteration,
    reviewStages: row.review_stages,
    allowDegraded: row.allow_degraded,
    untilStage: row.until_stage,
    writerLaneId: row.writer_lane_id,
    chosenLaneId: row.chosen_lane_id,
    chosenBy: row.chosen_by,
    vote: row.vote,
    process: await loadRecipe(tx, { hash: row.recipe_hash, savedBy: row.recipe_saved_by }),
    lanes,
    overlay: row.overlay,
    date: row.session_date,
    folder: row.folder,
    workers: null,
  };
}

/** A lane of the session; throws `not_found` where the id is of none. */
export function laneOf({ id, lanes }: Pick<SessionView, 'id' | 'lanes'>, laneId: string | null) {
  const lane = lanes.find((one) => one.id === laneId);
  if (!lane) throw new DialecticError('not_found', `Session ${id} has no lane ${laneId}.`);
  return lane;
}

/** The rows of what every prompt of a session may use. */
export type FactRows = {
  readonly project: {
    readonly name: string;
    readonly domain: string | null;
    readonly brief: string;
    readonly overlay: Overlay | null;
  };
  readonly resources: readonly {
    readonly kind: ResourceKind;
    readonly name: string;
    readonly body: string;
    /** The number of the source that it is; null for all that is none. */
    readonly source: number | null;
  }[];
};

/** Reads them by the session's id alone, so that they come with the session in one round trip. */
export async function readFactRows(tx: TenantQueries, sessionId: string): Promise<FactRows> {
  const [project, resources] = await Promise.all([
    tx.queryOne<FactRows['project']>(
      `select p.name, p.domain, b.body as brief, p.overlay from sessions s
       join projects p on p.tenant_id = s.tenant_id and p.id = s.project_id
       join blobs b on b.tenant_id = p.tenant_id and b.hash = p.brief_hash where s.id = $1`,
      [sessionId],
      'read-facts',
    ),
    tx.query<FactRows['resources'][number]>(
      `select r.kind, r.name, b.body,
         (select min(x.source) from source_excerpts x where r.kind = 'reference_documents'
           and x.tenant_id = r.tenant_id and x.project_id = r.project_id
           and x.blob_hash = r.blob_hash) as source
       from sessions s
       join resources r on r.tenant_id = s.tenant_id and r.project_id = s.project_id
       join blobs b on b.tenant_id = r.tenant_id and b.hash = r.blob_hash
       where s.id = $1 order by r.kind, r.name, r.id`,
      [sessionId],
      'read-resources',
    ),
  ]);
  return { project, resources };
}

/** What every prompt of a session may use, from its rows. */
export function toFacts(session: SessionView, { project, resources: rows }: FactRows): PromptFacts {
  const { process } = session;
  const resources: Partial<Record<ResourceKind, string>> = {};
  for (const { kind, name, body, source } of rows) {
    // Prompts show the text of a source once, under its id.
    const text =
      source === null ? body : `${name} is source S${source}; it stands with the sources.`;
    resources[kind] = Object.hasOwn(resources, kind) ? `${resources[kind]}\n\n${text}` : text;
  }
  const domain = project.domain ?? '';
  return {
    userRequest: project.brief,
    iteration: session.iteration,
    date: session.date,
    project: { name: project.name, domain },
    resources,
    overlay: mergeOverlays({
      system: process.overlay,
      domain: process.domains[domain],
      project: project.overlay ?? undefined,
      session: session.overlay ?? undefined,
    }),
  };
}
