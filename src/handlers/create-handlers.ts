import type { Database } from '../db/database.ts';
import type { JobContext, JobHandlers } from '../jobs/context.ts';
import { execute } from './execute.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { planLane } from './plan-lane.ts';
import { planStage } from './plan-stage.ts';
import { render } from './render.ts';

/** What a worker does for each type of job. */
export function createHandlers(deps: HandlerDeps): JobHandlers {
  const { database } = deps;
  return {
    PLAN: (context) => plan(database, context),
    EXECUTE: (context) => execute(deps, context),
    RENDER: (context) => render(database, context),
  };
}

/** A PLAN job stands for a stage or for one lane in it; the steps themselves are EXECUTE jobs. */
export const plan = (database: Database, context: JobContext): Promise<void> =>
  context.job.role === 'stage' ? planStage(database, context) : planLane(database, context);
