import { toDialecticError } from '../errors/errors.ts';
import { isPassing } from '../jobs/retry-commit.ts';
import { BrokenOff, elapsedMs, Slices } from '../platform/clock.ts';
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
const PAUSE_MS = 1_000;
/** An export writes the whole tree: it may take a twentieth of the time of a run. */
const SHARE = 20;
/** What a stage has made is worth more: there it may take half of the time. */
const STAGE_SHARE = 1;

/** Says which folder it is and what is wrong with it. */
type Updated = Pick<RunResult, 'folder' | 'folderProblem'>;

/** Keeps the folder of a session up to date while a process works on it. */
export class FolderOfRun {
  readonly #update: (slices?: Slices) => Promise<Updated>;
  /** Whether a stage has ended since. */
  #isStage = false;
  /** Whether a document was rendered since. */
  #isNews = false;
  #notBefore = elapsedMs() + PAUSE_MS;
  #noStageBefore = 0;
  #told = '';

  constructor(update: (slices?: Slices) => Promise<Updated>) {
    this.#update = update;
  }

  /** Whether the session has made something since the folder was written. */
  get isBehind(): boolean {
    return this.#isStage || this.#isNews;
  }

  /** Takes note of an event that has made something. */
  note(kind: RunEvent['kind']): void {
    this.#isStage ||= STAGE_ENDS.has(kind);
    this.#isNews ||= kind === 'document-rendered';
  }

  /** Whether a stage has ended, or documents have waited for long enough. */
  get isDue(): boolean {
    const now = elapsedMs();
    const isStageDue = this.#isStage && now >= this.#noStageBefore;
    return isStageDue || (this.#isNews && now >= this.#notBefore);
  }

  /**
   * Writes whatever the session has made since. Where the store is away or the write is broken off, it
   * is put off. What keeps the folder from being written is told once.
   */
  async writeBehind(slices = new Slices()): Promise<FolderEvent[]> {
    if (!this.isBehind) return [];
    const started = elapsedMs() - slices.restedMs;
    // What comes while it is written is to be written again.
    const [wasStage, wasNews] = [this.#isStage, this.#isNews];
    this.#isStage = false;
    this.#isNews = false;
    try {
      return this.tell(await this.#update(slices));
    } catch (thrown) {
      this.#isStage ||= wasStage;
      this.#isNews ||= wasNews;
      if (!(thrown instanceof BrokenOff) && !isPassing(toDialecticError(thrown))) throw thrown;
      return [];
    } finally {
      const ended = elapsedMs();
      const tookMs = ended - slices.restedMs - started;
      this.#notBefore = ended + Math.max(PAUSE_MS, SHARE * tookMs);
      this.#noStageBefore = ended + STAGE_SHARE * tookMs;
    }
  }

  /** What is to be told of an update: a problem that was not the last one's. */
  tell({ folder, folderProblem }: Updated): FolderEvent[] {
    const message = folderProblem ?? '';
    const isOld = message === this.#told;
    this.#told = message;
    if (isOld || message === '' || folder === null) return [];
    return [{ kind: 'folder-not-written', folder, message }];
  }
}
