import { execFileSync } from 'node:child_process';

/** Makes a named pipe, which Node itself cannot. */
export const makeFifo = (path: string): void =>
  void execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
