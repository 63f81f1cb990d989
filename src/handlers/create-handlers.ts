import type { JobHandlers } from '../jobs/context.ts';
import { createExecuteHandler, type GenerationDeps } from './execute.ts';
import { createPlanHandler } from './plan-lane.ts';
import { createRenderHandler } from './render.ts';

/** Everything that a worker needs to run sessions. */
export function createHandlers(deps: GenerationDeps): JobHandlers {
  return {
    PLAN: createPlanHandler(deps.database),
    EXECUTE: createExecuteHandler(deps),
    RENDER: createRenderHandler(deps.database),
  };
}
