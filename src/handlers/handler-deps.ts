import type { Database } from '../db/database.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelsConfig } from '../models/config.ts';
import type { ModelProvider } from '../models/types.ts';

/** What the handlers need from the process that runs them. */
export type HandlerDeps = {
  readonly database: Database;
  readonly provider: ModelProvider;
  readonly config: ModelsConfig;
  /** Is called with text as it arrives. */
  readonly onDelta?: (job: Job, text: string) => void;
};
