import { codeOf } from '../errors/errors.ts';
import type { EndedJob } from '../jobs/worker.ts';
import type { Slices } from '../platform/clock.ts';
import { readSession } from '../session/read.ts';
import { updateFolder } from '../session/write-folder.ts';
import { BackgroundWrites, type Load } from './background-writes.ts';
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
  /** Sessions that rested when they were last read: a store may have had any number of them. */
  readonly #resting = new Set<string>();
  readonly #written: FolderNews[] = [];
  readonly #writes: BackgroundWrites<FolderNews>;

  constructor(store: Store, load: Load) {
    this.#store = store;
    this.#writes = new BackgroundWrites(load);
  }

  /** Whether something waits to be written later, or to be told. */
  get isBehind(): boolean {
    return this.#writes.hasNews || [...this.#folders.values()].some((folder) => folder.isBehind);
  }

  /** Notes what ended jobs have made, lets what is due be written, and tells what was. */
  hear(ended: readonly EndedJob[]): FolderNews[] {
    this.#note(ended);
    if ([...this.#folders.values()].some(({ isDue }) => isDue)) {
      this.#writes.start((slices) => this.#writeAll(({ isDue }) => isDue, slices));
    }
    return this.take();
  }

  /** What was written beside the jobs since it was last asked; throws what such a write threw. */
  take(): FolderNews[] {
    return this.#writes.take();
  }

  /** Lets nothing else begin; what is being written ends, or is left to `finish` where that follows. */
  stop(how: { readonly isRepeated: boolean }): Promise<void> {
    return this.#writes.end(how);
  }

  /** Writes at once what is behind, and what these jobs have made: nobody may come back to it. */
  finish(ended: readonly EndedJob[]): Promise<FolderNews[]> {
    this.#note(ended);
    return this.#writeAll(() => true);
  }

  #note(ended: readonly EndedJob[]): void {
    for (const { job } of ended) {
      const folder = this.#folderOf(job);
      // The end of a stage's own job closes the stage.
      if (job.role === 'stage') folder.note('stage-completed');
      else if (job.role === 'step') folder.note('document-rendered');
    }
  }

  /** Throws what the first write threw that failed, when the folders of the others are written. */
  async #writeAll(
    isChosen: (folder: FolderOfRun) => boolean,
    slices?: Slices,
  ): Promise<FolderNews[]> {
    const problems: FolderNews[] = [];
    const failures: unknown[] = [];
    for (const [session, folder] of this.#folders) {
      if (slices?.isBrokenOff) break;
      if (!isChosen(folder)) continue;
      try {
        const told = await folder.writeBehind(slices);
        problems.push(...told.map((problem) => ({ ...problem, session })));
        if (this.#resting.has(session) && !folder.isBehind) this.#forget(session);
      } catch (thrown) {
        // Erased since: there is nothing left to write.
        if (codeOf(thrown) === 'not_found') this.#forget(session);
        else failures.push(thrown);
      }
    }
    if (failures.length > 0) throw failures[0];
    return [...this.#written.splice(0), ...problems];
  }

  #forget(session: string): void {
    this.#folders.delete(session);
    this.#resting.delete(session);
  }

  #folderOf({ tenantId, sessionId }: EndedJob['job']): FolderOfRun {
    const known = this.#folders.get(sessionId);
    if (known) return known;
    const folder = new FolderOfRun((slices) => this.#update(tenantId, sessionId, slices));
    this.#folders.set(sessionId, folder);
    return folder;
  }

  async #update(tenantId: string, session: string, slices?: Slices) {
    const { database } = this.#store;
    const read = await database.asTenant(tenantId, (tx) => readSession(tx, session));
    if (read.status === 'running') this.#resting.delete(session);
    else this.#resting.add(session);
    const { folder } = read;
    if (folder === null) return { folder, folderProblem: null };
    const result = await updateFolder(database, tenantId, session, slices);
    if (result.folder !== null && result.folderProblem === null) {
      this.#written.push({ kind: 'folder-written', session, folder: result.folder });
    }
    return result;
  }
}
