/** What a benchmark asks of every engine, so that all of them do the same work. */
export type Engine = {
  /** Starts to take jobs; `ran` is called by each handler as it starts, with the job's id. */
  startWorker(ran: (id: string) => void): Promise<void>;
  /** Adds jobs whose handler returns at once, all in one transaction. */
  enqueueNoops(ids: readonly string[]): Promise<void>;
  /** Adds roots that run `STEPS` steps of `CHILDREN` jobs each, all in one transaction. */
  enqueueTrees(ids: readonly string[]): Promise<void>;
  /** How many jobs the database does not know as finished. */
  countOpen(): Promise<number>;
  close(): Promise<void>;
};

/** A file in this folder that is named after its engine has this as its default export. */
export type EngineModule = {
  /** Opens the engine on a database; the first process to do so makes the engine's tables. */
  open(url: string, isFirst: boolean): Promise<Engine>;
};

export const BATCH_SIZE = 50;
export const STEPS = 3;
export const CHILDREN = 100;

/** The ids of a tree's children in one step; a tree's own id says which tree it is. */
export function childIds(tree: string, step: number): string[] {
  return Array.from({ length: CHILDREN }, (_, n) => `${tree}/${step}/${n}`);
}

/** Microseconds on the monotonic clock, which all processes of one machine share. */
export const nowMicros = (): number => Number(process.hrtime.bigint() / 1000n);
