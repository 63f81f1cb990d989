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

/** Keeps the folder of a session up to date while a process works on it. */
export class FolderOfRun {
  readonly #update: () => Promise<RunResult>;
  #isDue = false;
  #isNews = false;
  #notBefore = elapsedMs() + PAUSE_MS;
  #told = '';

  constructor(update: () => Promise<RunResult>) {
    this.#update = update;
  }

  /**
   * Writes when the log is read to its end: at once after a stage, and now and then for documents.
   * While the store is away it is put off. What keeps the folder from being written is told once.
   */
  async hear({ kind }: RunEvent): Promise<FolderEvent[]> {
    this.#isDue ||= STAGE_ENDS.has(kind);
    this.#isNews ||= kind === 'document-rendered';
    if (kind !== 'caught-up') return [];
    const started = elapsedMs();
    if (!this.#isDue && !(this.#isNews && started >= this.#notBefore)) return [];
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
    }
  }

  #tell(folder: string | null, message: string): FolderEvent[] {
    const isOld = message === this.#told;
    this.#told = message;
    if (isOld || message === '' || folder === null) return [];
    return [{ kind: 'folder-not-written', folder, message }];
  }
}
