import type { Embedder } from '../context/embedder.ts';
import type { Database } from '../db/database.ts';
import type { Job } from '../jobs/types.ts';
import type { ModelsConfig } from '../models/config.ts';
import type { ModelProvider } from '../models/types.ts';
import type { Trace } from '../platform/trace.ts';
import type { GivenSource } from '../sources/source-copies.ts';
import type { Likeness } from '../sources/source-index.ts';

/** Sources that a search service has for queries, the best of the first query first. */
export type SearchWeb = {
  /** Whose prices hold. */
  readonly service: string;
  /** Calls `onAnswered` for each search that the service has answered and bills. */
  readonly search: (
    queries: readonly string[],
    signal: AbortSignal,
    onAnswered: () => void,
  ) => Promise<readonly GivenSource[]>;
};

/** What the handlers need from the process that runs them. */
export type HandlerDeps = {
  readonly database: Database;
  readonly provider: ModelProvider;
  readonly config: ModelsConfig;
  /** Finds what matters in texts that are too long; the best that is installed where absent. */
  readonly embedder?: Embedder;
  /** Asks a search service and reads what it found; absent where none is configured. */
  readonly search?: SearchWeb | undefined;
  /** When sources that were found are held to be one; absent = where they have the same text. */
  readonly likeness?: Likeness | undefined;
  /** Is called with text as it arrives. */
  readonly onDelta?: (job: Job, text: string) => void;
  /** Notes how long each step of a job takes. */
  readonly trace?: Trace | undefined;
};
