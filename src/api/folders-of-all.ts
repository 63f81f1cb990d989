import type { EndedJob } from '../jobs/worker.ts';
import { readSession } from '../session/read.ts';
import { updateFolder } from '../session/write-folder.ts';
import { FolderOfRun } from './folder-of-run.ts';
import type { Store } from './store.ts';

/** What a worker tells about the folders of the sessions that it does jobs of. */
export type FolderNews =
  /** The folder holds all that the session has made so far. */
  | { readonly kind: 'folder-written'; readonly session: string; readonly folder: string }
  /** It could not be written: it is on another machine, for example. */
  | {
      readonly kind: 'folder-not-written';
      readonly session: string;
      readonly folder: string;
      readonly message: string;
    };

/**
 * Keeps the folders of all sessions up to date that a worker for the whole store does jobs of, as the
 * process that started a session would. A session that remembers no folder has none to write; one
 * whose folder is on another machine, or is not the session's own, is left alone.
 */
export class FoldersOfAll {
  readonly #store: Store;
  readonly #folders = new Map<string, FolderOfRun>();
  readonly #written: FolderNews[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether something waits to be written later. */
  get isBehind(): boolean {
    return [...this.#folders.values()].some((folder) => folder.isBehind);
  }

  /** Notes what ended jobs have made, and writes what is due. */
  async hear(ended: readonly EndedJob[]): Promise<FolderNews[]> {
    for (const { job } of ended) {
      const folder = this.#folderOf(job);
      // The end of a stage's own job closes the stage.
      if (job.role === 'stage') folder.note('stage-completed');
      else if (job.role === 'step') folder.note('document-rendered');
    }
    return this.#writeAll((folder) => folder.writeDue());
  }

  /** Writes what is behind at once: nobody may come back to it. */
  finish(): Promise<FolderNews[]> {
    return this.#writeAll((folder) => folder.writeBehind());
  }

  async #writeAll(write: (folder: FolderOfRun) => Promise<readonly Problem[]>) {
    const problems: FolderNews[] = [];
    for (const [session, folder] of this.#folders) {
      for (const problem of await write(folder)) problems.push({ ...problem, session });
    }
    return [...this.#written.splice(0), ...problems];
  }

  #folderOf({ tenantId, sessionId }: EndedJob['job']): FolderOfRun {
    const known = this.#folders.get(sessionId);
    if (known) return known;
    const folder = new FolderOfRun(() => this.#update(tenantId, sessionId));
    this.#folders.set(sessionId, folder);
    return folder;
  }

  async #update(tenantId: string, session: string) {
    const { database } = this.#store;
    const { folder } = await database.asTenant(tenantId, (tx) => readSession(tx, session));
    if (folder === null) return { folder, folderProblem: null };
    const result = await updateFolder(database, tenantId, session);
    if (result.folder !== null && result.folderProblem === null) {
      this.#written.push({ kind: 'folder-written', session, folder: result.folder });
    }
    return result;
  }
}

type Problem = Omit<Extract<FolderNews, { readonly kind: 'folder-not-written' }>, 'session'>;
