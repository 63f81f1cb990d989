import { claimFolder, requireFolder } from '../documents/owned-folder.ts';
import { estimateNewRun } from '../estimate/estimate-new-run.ts';
import type { Estimate } from '../estimate/types.ts';
import { planStart } from '../handlers/plan-wave.ts';
import type { ModelsConfig } from '../models/config.ts';
import { requireModels } from '../models/require-models.ts';
import { placeRun } from '../session/project.ts';
import { startRun as startSession } from '../session/start.ts';
import { rememberFolder } from '../session/write-folder.ts';
import { readRunBudget, setSessionBudgets } from '../wallet/session-budgets.ts';
import { bookPreflight } from '../wallet/session-preflight.ts';
import { prepareRun, type RunOptions } from './run-options.ts';
import type { Store } from './store.ts';

/** The ids of what a start has made. */
export type StartedRun = { readonly session: string; readonly project: string };

/** Tells what a run would take; nothing is saved or asked of a model. */
export async function estimateRun(store: Store, options: RunOptions): Promise<Estimate> {
  const { database, tenantId, models, search } = store;
  const run = await prepareRun(options);
  const placed = await database.asTenant(tenantId, (tx) => placeRun(tx, run));
  return estimateNewRun(database, tenantId, placed, models, search?.service ?? null);
}

/** Refuses a run that could not be started whatever the store holds: no store is needed for it. */
export async function checkRun(options: RunOptions, config: ModelsConfig) {
  requireModels(options.models, config);
  const run = await prepareRun(options);
  if (options.project === undefined) await requireFolder(options.out, null);
  return { run, budgets: await readRunBudget(options.budget ?? {}, options.models, config) };
}

/** Checks everything that can be checked before anything is spent, and opens the first stage. */
export async function startRun(store: Store, options: RunOptions): Promise<StartedRun> {
  const { database, tenantId } = store;
  const { run, budgets } = await checkRun(options, store.models);
  const { projectId } = await database.asTenant(tenantId, (tx) => placeRun(tx, run));
  await requireFolder(options.out, projectId);
  const started = await database.asTenant(tenantId, async (tx) => {
    const made = await startSession(tx, { ...run, likeness: store.likeness }, planStart);
    // In the same transaction: no call may be made before the caps hold.
    await setSessionBudgets(tx, made.sessionId, budgets);
    await bookPreflight(tx, made.sessionId, options.preflight ?? []);
    if (options.out) await rememberFolder(tx, made.sessionId, options.out);
    return made;
  });
  if (options.out) await claimFolder(options.out, started.projectId);
  return { session: started.sessionId, project: started.projectId };
}
