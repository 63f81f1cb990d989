import type { JobHandlers } from '../jobs/context.ts';
import { createPlanHandler } from '../session/plan-handler.ts';
import { createExecuteHandler, type GenerationDeps } from './execute-handler.ts';
import { createRenderHandler } from './render-handler.ts';

/** Everything that a worker needs to run sessions. */
export function createHandlers(deps: GenerationDeps): JobHandlers {
  return {
    PLAN: createPlanHandler(deps.database),
    EXECUTE: createExecuteHandler(deps),
    RENDER: createRenderHandler(deps.database),
  };
}
