import type { EXIT_CODES } from '../errors/error-code.ts';
import { every } from '../platform/clock.ts';

/** Lets the process end with this code once its work is done; the table is in docs/errors.md. */
export function exitWith(code: keyof typeof EXIT_CODES): void {
  process.exitCode = code;
}

const LOOK_MS = 100;

/**
 * Ends the process although something still keeps its event loop alive: the lookup of a host name
 * cannot be taken back, and a resolver that is away takes ten seconds and more to say so. Whatever
 * is on its way to a reader gets there first. A process that has nothing left ends before by itself.
 */
export function endSoon(): void {
  every(LOOK_MS, () => {
    if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit();
  });
}
