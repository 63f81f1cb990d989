import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { afterTheFile, temporaryFolder } from './stores.ts';

/** Mounts a small file system of its own; only root may, and not everywhere. */
export async function mountSmallDisk(megabytes: number, flags = 'rw'): Promise<string> {
  const folder = join(await temporaryFolder(), 'disk');
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,${flags}`, 'tmpfs', folder], {
    stdio: 'ignore',
  });
  afterTheFile(() => execFileSync('umount', ['-l', folder]));
  return folder;
}

const canMount = await mountSmallDisk(1).then(
  () => true,
  () => false,
);

/** A test that is skipped where this machine lets nobody mount a disk. */
export const testWithDisk = canMount ? test : test.skip;

/** Takes all space but `leaveBytes`; returns the file that holds it. */
export function fillDisk(folder: string, leaveBytes: number): string {
  const path = join(folder, 'filler');
  const file = openSync(path, 'a');
  try {
    for (const size of [64 * 1024, 1]) fill(file, Buffer.alloc(size));
  } finally {
    closeSync(file);
  }
  if (leaveBytes > 0) truncateSync(path, Math.max(0, statSync(path).size - leaveBytes));
  return path;
}

function fill(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
