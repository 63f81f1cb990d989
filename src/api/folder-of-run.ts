import { toDialecticError } from '../errors/errors.ts';
import { isPassing } from '../jobs/retry-commit.ts';
import { elapsedMs } from '../platform/clock.ts';
import type { RunResult } from '../session/summary.ts';
import type { RunEvent } from './follow-run.ts';

/** What the process that works on a run is told when the folder stays behind the store. */
export type FolderEvent = {
  readonly kind: 'folder-not-written';
  readonly folder: string;
  readonly message: string;
};

const STAGE_ENDS: ReadonlySet<string> = new Set([
  'stage-completed',
  'stage-failed',
  'stage-cancelled',
]);
/** Documents between the ends of stages wait this long, so that many of them are written at once. */
const PAUSE_MS = 5_000;
/** An export writes the whole tree: it may take a twentieth of the time of a run. */
const SHARE = 20;
/** Where stages end one after the other, a sixth. */
const STAGE_SHARE = 5;

/** Brings a folder up to date, and says which one it is and what is wrong with it. */
type Update = () => Promise<Pick<RunResult, 'folder' | 'folderProblem'>>;

/** Keeps the folder of a session up to date while a process works on it. */
export class FolderOfRun {
  readonly #update: Update;
  #isDue = false;
  #isNews = false;
  #notBefore = elapsedMs() + PAUSE_MS;
  #noStageBefore = 0;
  #told = '';

  constructor(update: Update) {
    this.#update = update;
  }

  /** Whether the session has made something since the folder was written. */
  get isBehind(): boolean {
    return this.#isDue || this.#isNews;
  }

  /** Writes when the log is read to its end: soon after a stage, and now and then for documents. */
  async hear({ kind }: RunEvent): Promise<FolderEvent[]> {
    this.note(kind);
    return kind === 'caught-up' ? this.writeDue() : [];
  }

  /** Takes note of an event that has made something. */
  note(kind: RunEvent['kind']): void {
    this.#isDue ||= STAGE_ENDS.has(kind);
    this.#isNews ||= kind === 'document-rendered';
  }

  /** Writes what the end of a stage has made, and documents that have waited for long enough. */
  async writeDue(): Promise<FolderEvent[]> {
    const now = elapsedMs();
    const isStageDue = this.#isDue && now >= this.#noStageBefore;
    const isDue = isStageDue || (this.#isNews && now >= this.#notBefore);
    return isDue ? this.writeBehind() : [];
  }

  /**
   * Writes whatever the session has made since. While the store is away it is put off. What keeps
   * the folder from being written is told once.
   */
  async writeBehind(): Promise<FolderEvent[]> {
    if (!this.isBehind) return [];
    const started = elapsedMs();
    try {
      const { folder, folderProblem } = await this.#update();
      this.#isDue = false;
      this.#isNews = false;
      return this.#tell(folder, folderProblem ?? '');
    } catch (thrown) {
      if (!isPassing(toDialecticError(thrown))) throw thrown;
      return [];
    } finally {
      const ended = elapsedMs();
      this.#notBefore = ended + Math.max(PAUSE_MS, SHARE * (ended - started));
      this.#noStageBefore = ended + STAGE_SHARE * (ended - started);
    }
  }

  #tell(folder: string | null, message: string): FolderEvent[] {
    const isOld = message === this.#told;
    this.#told = message;
    if (isOld || message === '' || folder === null) return [];
    return [{ kind: 'folder-not-written', folder, message }];
  }
}
