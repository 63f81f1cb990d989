import type { Embedder } from '../context/embedder.ts';
import type { Database } from '../db/database.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelsConfig } from '../models/config.ts';
import type { ModelProvider } from '../models/types.ts';
import type { Trace } from '../platform/trace.ts';

/** What the handlers need from the process that runs them. */
export type HandlerDeps = {
  readonly database: Database;
  readonly provider: ModelProvider;
  readonly config: ModelsConfig;
  /** Finds what matters in texts that are too long; the best that is installed where absent. */
  readonly embedder?: Embedder;
  /** Is called with text as it arrives. */
  readonly onDelta?: (job: Job, text: string) => void;
  /** Notes how long each step of a job takes. */
  readonly trace?: Trace | undefined;
};
