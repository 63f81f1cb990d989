import { every, now } from '../platform/clock.ts';
import { forgetBackupFailure, listBackups, recordBackupFailure } from './backup.ts';

type ScheduleOptions = {
  readonly directory: string;
  /** How old the last backup may grow; 0 turns backups off. */
  readonly everyMs: number;
  readonly write: () => Promise<string>;
};

/** Backs up every so often, one at a time; a failure is recorded and never stops the work. */
export class BackupSchedule {
  readonly #options: ScheduleOptions;
  #timer: { stop(): void } | undefined;
  #running: Promise<string> | undefined;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  start(): void {
    const { everyMs } = this.#options;
    if (everyMs > 0) this.#timer = every(everyMs, () => void this.attempt(this.#options.write));
  }

  /** Takes no further backup, also not at the end. */
  stop(): void {
    this.#timer?.stop();
    this.#timer = undefined;
  }

  /** Backs up now; who asks while one is under way gets that one. */
  run(write: () => Promise<string> = this.#options.write): Promise<string> {
    this.#running ??= write().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async attempt(write: () => Promise<string>): Promise<void> {
    const { directory } = this.#options;
    try {
      await this.run(write);
      forgetBackupFailure(directory);
    } catch (error) {
      await recordBackupFailure(directory, error);
    }
  }

  /** Whether the schedule runs and the last backup is old, or of a time that is yet to come. */
  isDue(): boolean {
    if (!this.#timer) return false;
    const [last] = listBackups(this.#options.directory);
    const ageMs = last ? now().getTime() - Date.parse(last.createdAt) : Number.POSITIVE_INFINITY;
    return ageMs < 0 || ageMs >= this.#options.everyMs;
  }
}
