import type { Database, Transaction } from '../db/database.ts';
import { saveBlob } from '../documents/blobs.ts';
import { createSession } from '../jobs/sessions.ts';
import { validateForRun } from '../planning/validate-for-run.ts';
import { DialecticError } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { runningStages } from '../recipe/configure-process.ts';
import type { Process } from '../recipe/types.ts';
import { requireValid } from '../recipe/validate.ts';
import { saveRecipe } from './recipe-store.ts';
import { openStage } from './stages.ts';

export type NewResource = { readonly kind: string; readonly name: string; readonly text: string };

export type NewRun = {
  readonly tenantId: string;
  readonly name: string;
  readonly domain?: string | null;
  readonly brief: string;
  readonly resources?: readonly NewResource[];
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
  /** What else belongs to the start, a budget for example, before anything can run. */
  readonly alsoWrite?: (tx: Transaction, started: StartedRun) => Promise<void>;
};

export type StartedRun = { readonly projectId: string; readonly sessionId: string };

/** Creates project, session and lanes and opens the first stage, in one transaction. */
export async function startRun(database: Database, run: NewRun): Promise<StartedRun> {
  checkRun(run);
  return database.asTenant(run.tenantId, async (tx) => {
    const projectId = await saveProject(tx, run);
    const recipeHash = await saveRecipe(tx, run.tenantId, run.process);
    const sessionId = await createSession(tx, {
      tenantId: run.tenantId,
      maxRunning: run.maxRunning ?? null,
    });
    const lanes = await saveLanes(tx, run, sessionId);
    await tx.query(
      `update sessions set project_id = $3, recipe_hash = $4, review_stages = $5,
         allow_degraded = $6, until_stage = $7, writer_lane_id = $8
       where tenant_id = $1 and id = $2`,
      [
        run.tenantId,
        sessionId,
        projectId,
        recipeHash,
        run.reviewStages ?? false,
        run.allowDegraded ?? false,
        run.untilStage ?? null,
        run.writer ? lanes[run.writer - 1]! : null,
      ],
    );
    await openStage(tx, {
      tenantId: run.tenantId,
      sessionId,
      stageKey: runningStages(run.process)[0]!.key,
    });
    await run.alsoWrite?.(tx, { projectId, sessionId });
    return { projectId, sessionId };
  });
}

function checkRun(run: NewRun): void {
  if (run.models.length === 0) {
    throw new DialecticError('usage_invalid', 'A run needs at least one model.');
  }
  if (run.brief.trim() === '') throw new DialecticError('usage_invalid', 'The brief is empty.');
  if (run.writer && run.writer > run.models.length) {
    throw new DialecticError('usage_invalid', `There is no lane ${run.writer} to write.`);
  }
  if (run.untilStage && !run.process.stages.some((stage) => stage.key === run.untilStage)) {
    const keys = run.process.stages.map((stage) => stage.key).join(', ');
    throw new DialecticError('usage_invalid', `No stage ${run.untilStage}; there are ${keys}.`);
  }
  requireValid(validateForRun(run.process, run.models.length));
}

async function saveProject(tx: Transaction, run: NewRun): Promise<string> {
  const id = newId();
  await tx.query(
    `insert into projects (tenant_id, id, name, domain, brief_hash) values ($1, $2, $3, $4, $5)`,
    [run.tenantId, id, run.name, run.domain ?? null, await saveBlob(tx, run.tenantId, run.brief)],
  );
  for (const resource of run.resources ?? []) {
    const blob = await saveBlob(tx, run.tenantId, resource.text);
    await tx.query(
      `insert into resources (tenant_id, id, project_id, kind, name, blob_hash)
       values ($1, $2, $3, $4, $5, $6)`,
      [run.tenantId, newId(), id, resource.kind, resource.name, blob],
    );
  }
  return id;
}

async function saveLanes(tx: Transaction, run: NewRun, sessionId: string): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, model] of run.models.entries()) {
    const id = newId();
    ids.push(id);
    await tx.query(
      'insert into lanes (tenant_id, id, session_id, ordinal, model) values ($1, $2, $3, $4, $5)',
      [run.tenantId, id, sessionId, index + 1, model],
    );
  }
  return ids;
}
