import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { createSession } from '../jobs/sessions.ts';
import { validateForRun } from '../planning/validate-for-run.ts';
import { nextTurn } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import { firstStage } from '../recipe/edges.ts';
import { requireDomain, requireResources, requireUntil } from '../recipe/given.ts';
import { findReadingOrders } from '../recipe/reading-order.ts';
import type { Overlay, Process } from '../recipe/types.ts';
import { requireValid } from '../recipe/validate.ts';
import { admitSources, SAME_TEXT } from '../sources/project-sources.ts';
import { type GivenSource, splitGiven } from '../sources/source-copies.ts';
import type { Likeness } from '../sources/source-index.ts';
import type { Day } from '../text/day.ts';
import { admitEarlierReferences, admitReferences } from './admit-references.ts';
import { openStage, type PlanStart } from './open-stage.ts';
import { placeRun, saveProject } from './project.ts';
import { saveRecipe } from './recipe-store.ts';

export type NewResource = { readonly kind: string; readonly name: string; readonly text: string };

export type NewRun = {
  /** The name or id of the project that holds the session; null = a new project called `name`. */
  readonly project?: string | null;
  readonly name: string;
  readonly domain?: string | null;
  /** Empty where the named project has one. */
  readonly brief: string;
  /** The layers of role, standards and style above those of the process and its domain. */
  readonly projectOverlay?: Overlay | null;
  readonly overlay?: Overlay | null;
  readonly resources?: readonly NewResource[];
  /** What the documents may cite; added to the sources that the project has. */
  readonly sources?: readonly GivenSource[];
  /** When two of them are held to be one; absent = where they have the same text. */
  readonly likeness?: Likeness | undefined;
  readonly process: Process;
  /** One lane for each; the same model may stand here more than once. */
  readonly models: readonly string[];
  /** Whether a person looks at every stage before the next begins. */
  readonly reviewStages?: boolean;
  /** Whether the run goes on when a lane of a stage failed. */
  readonly allowDegraded?: boolean;
  readonly untilStage?: string | null;
  /** The lane (from 1) that alone goes on after the stage that the process names for it. */
  readonly writer?: number | null;
  readonly maxRunning?: number | null;
  /** The day that its prompts call today, in every pass; null where nothing is known of one. */
  readonly date?: Day | null;
};

type StartedRun = { readonly projectId: string; readonly sessionId: string };

/**
 * Creates session and lanes, and their project if there is none yet, and opens the first stage, with the
 * jobs that `plan` finds for each lane.
 * What else belongs to the start, a budget for example, is written in the same transaction.
 */
export async function startRun(
  tx: Transaction,
  wanted: NewRun,
  plan?: PlanStart,
): Promise<StartedRun> {
  const run = await placeRun(tx, wanted);
  checkRun(run, run.projectId === null);
  const projectId = run.projectId ?? (await saveProject(tx, run));
  await (run.projectId === null ? admitReferences : admitEarlierReferences)(tx, projectId);
  const given = (run.sources ?? []).map((one) => ({
    ...splitGiven(one),
    origin: 'given' as const,
  }));
  await admitSources(tx, projectId, given, run.likeness ?? SAME_TEXT);
  const sessionId = newId();
  const laneIds = run.models.map(() => newId());
  const [{ hash: recipeHash, process }] = await Promise.all([
    saveRecipe(tx, run.process),
    createSession(tx, { id: sessionId, maxRunning: run.maxRunning ?? null }),
  ]);
  const lanes = run.models.map((model, index) =>
    tx.query(
      'insert into lanes (tenant_id, id, session_id, ordinal, model) values ($1, $2, $3, $4, $5)',
      [tx.tenantId, laneIds[index], sessionId, index + 1, model],
    ),
  );
  const placed = tx.query(
    `update sessions set project_id = $2, recipe_hash = $3, review_stages = $4,
       allow_degraded = $5, until_stage = $6, writer_lane_id = $7, overlay = $8,
       session_date = $9
     where id = $1`,
    [
      sessionId,
      projectId,
      recipeHash,
      run.reviewStages ?? false,
      run.allowDegraded ?? false,
      run.untilStage ?? null,
      run.writer ? laneIds[run.writer - 1] : null,
      run.overlay ? JSON.stringify(run.overlay) : null,
      run.date ?? null,
    ],
  );
  await Promise.all([...lanes, placed]);
  await Promise.all([
    openStage(
      tx,
      { id: sessionId, projectId, iteration: 1, process },
      firstStage(process).key,
      plan,
    ),
    // While the store is at work: the first request of the run waits for it.
    nextTurn().then(() => findReadingOrders(process)),
  ]);
  return { projectId, sessionId };
}

/** A project that exists may name a domain that this process gives no overlay; prompts name it. */
function checkRun(run: NewRun, isNewProject: boolean): void {
  if (run.models.length === 0) {
    throw new DialecticError('usage_invalid', 'A run needs at least one model.');
  }
  if (run.brief.trim() === '') {
    const message = run.project
      ? `There is no project ${run.project} yet; name its brief.`
      : 'The brief is empty.';
    throw new DialecticError('usage_invalid', message);
  }
  if (isNewProject && run.name.trim() === '') {
    throw new DialecticError('usage_invalid', 'The name of the project is empty; give it one.');
  }
  if (isNewProject) requireDomain(run.process, run.domain ?? null);
  requireResources(run.process, run.resources ?? []);
  if (run.writer && run.writer > run.models.length) {
    throw new DialecticError('usage_invalid', `There is no lane ${run.writer} to write.`);
  }
  requireUntil(run.process, run.untilStage ?? null);
  requireValid(validateForRun(run.process, run.models.length));
}
