import type { Transaction } from '../db/transaction.ts';
import { hashOf, saveBlob } from '../documents/blobs.ts';
import type { ChildJob } from '../jobs/context.ts';
import { insertJobs, tellWorkers } from '../jobs/enqueue.ts';
import { createStageRun } from '../jobs/lanes.ts';
import type { NewJob } from '../jobs/types.ts';
import type { SourceDocument } from '../planning/types.ts';
import { newId } from '../platform/ids.ts';
import { stageOf } from '../recipe/edges.ts';
import { renderSeedPrompt } from '../recipe/render-prompt.ts';
import { admitEarlierReferences } from './admit-references.ts';
import { takeUpFeedback } from './feedback.ts';
import { type PlanningView, readPlanningView } from './planning-view.ts';
import { readFactRows, readSession, type SessionView, toFacts } from './read.ts';
import { type AtOnce, lanesOf, planLaneRoots, type StagePayload } from './stages.ts';

/** Jobs that a lane begins a stage with; with `thenEnd` it is over when all of them have succeeded. */
export type LaneStart = { readonly children: readonly ChildJob[]; readonly thenEnd: boolean };

/** Plans how a lane begins a stage; null where the lane's own job has to look. */
export type PlanStart = (
  view: PlanningView,
  place: { readonly stageKey: string; readonly laneId: string },
) => LaneStart | null;

type Opening = Pick<SessionView, 'id' | 'projectId' | 'iteration' | 'process'>;

/** Opens a stage, see `prepareStage`. */
export async function openStage(
  tx: Transaction,
  opening: Opening,
  stageKey: string,
  plan?: PlanStart,
): Promise<void> {
  const open = await prepareStage(tx, opening, stageKey, plan);
  await open();
}

/**
 * Begins a stage's run, reads what else its opening needs and returns what completes it: its seed prompt
 * and one job that stands for the stage. The lanes' roots are that job's children, so that the engine
 * itself tells when all lanes are through; it waits for them from the beginning. Where `plan` can tell
 * how a lane begins, its jobs come with its root, and need no claim of the root first.
 */
export async function prepareStage(
  tx: Transaction,
  opening: Opening,
  stageKey: string,
  plan?: PlanStart,
): Promise<AtOnce> {
  const { id: sessionId, projectId, iteration } = opening;
  const run = { id: newId(), sessionId, iteration, stageKey };
  const seedPrompt = nameSeedPrompt(opening, stageKey);
  // In this order: who gives feedback holds the session's row, and lanes plan with what is taken up.
  const begun = Promise.all([
    tx.query(`update sessions set status = 'running' where id = $1`, [sessionId]),
    createStageRun(tx, run),
    takeUpFeedback(tx, opening, stageKey, run.id),
  ]);
  const [{ session, startOf }, known, admitted] = await Promise.all([
    readStarts(tx, opening, seedPrompt, plan),
    readFactRows(tx, sessionId),
    admitEarlierReferences(tx, projectId),
    begun,
  ]);
  // The seed prompt names a reference by its number, which some have since now.
  const facts = toFacts(session, admitted > 0 ? await readFactRows(tx, sessionId) : known);
  const text = renderSeedPrompt(session.process, stageOf(session.process, stageKey), facts);
  const jobs = jobsOfStage(session, stageKey, run.id, startOf);
  return () =>
    Promise.all([
      saveSeedPrompt(tx, sessionId, seedPrompt, text),
      insertJobs(tx, jobs),
      tellWorkers(tx),
    ]);
}

type StartOf = (laneId: string) => LaneStart | null;

/**
 * The session and, where lanes are planned with the stage, how each of them begins. The job of the stage
 * before it still runs, and has found that all lanes which that stage lost are excused.
 */
async function readStarts(
  tx: Transaction,
  opening: Opening,
  seedPrompt: SourceDocument & { readonly stage: string },
  plan: PlanStart | undefined,
): Promise<{ readonly session: SessionView; readonly startOf: StartOf }> {
  if (!plan) return { session: await readSession(tx, opening.id), startOf: () => null };
  const { stage: stageKey } = seedPrompt;
  const read = await readPlanningView(tx, opening);
  const laneIds = lanesOf(read.session, stageKey).map((lane) => lane.id);
  // As it will be with the stage's prompt and roots, which are saved together with what is planned.
  const own = { [stageKey]: laneIds };
  const stageLanes = Object.assign(Object.create(null) as object, read.stageLanes, own);
  const view = { ...read, stageLanes, documents: [...read.documents, seedPrompt] };
  return { session: read.session, startOf: (laneId) => plan(view, { stageKey, laneId }) };
}

/** The job that stands for the stage, the roots of its lanes, and what these begin with. */
function jobsOfStage(
  session: SessionView,
  stageKey: string,
  stageRunId: string,
  startOf: StartOf,
): NewJob[] {
  const { id: sessionId, iteration } = session;
  const place = { sessionId, stageRunId };
  const own = {
    ...place,
    id: newId(),
    type: 'PLAN' as const,
    role: 'stage' as const,
    payload: { stage: stageKey, iteration } satisfies StagePayload,
    idempotencyKey: `${sessionId}/${iteration}/${stageKey}`,
    waits: { thenEnd: false },
  };
  const lanes = planLaneRoots(session, stageKey).map((root) => {
    const inherited = { ...place, laneId: root.laneId, parentId: newId() };
    const start = startOf(root.laneId);
    const waits = start && { waits: { thenEnd: start.thenEnd } };
    const children = start?.children.map((child): NewJob => ({ ...inherited, ...child })) ?? [];
    return {
      root: { ...place, ...root, id: inherited.parentId, parentId: own.id, ...waits },
      children,
    };
  });
  return [own, ...lanes.map(({ root }) => root), ...lanes.flatMap(({ children }) => children)];
}

/** The stage's seed prompt as planning sees it; its text is rendered when all that it names is read. */
const nameSeedPrompt = ({ iteration }: Opening, stageKey: string) => ({
  id: newId(),
  identity: `seed_prompt/${iteration}/${stageKey}`,
  kind: 'seed_prompt' as const,
  stage: stageKey,
  documentKey: null,
  iteration,
  laneId: null,
  contributionId: null,
  sourceGroup: null,
  relationships: {},
  addressee: null,
  missing: [],
});

async function saveSeedPrompt(
  tx: Transaction,
  sessionId: string,
  { id, kind, iteration, stage, identity }: SourceDocument,
  text: string,
): Promise<void> {
  const saved = saveBlob(tx, text);
  const inserted = tx.query(
    `insert into documents
       (tenant_id, id, session_id, kind, iteration, stage_key, identity, markdown_hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [tx.tenantId, id, sessionId, kind, iteration, stage, identity, hashOf(text)],
  );
  await Promise.all([saved, inserted]);
}
