import type { Stats } from 'node:fs';

type Written = Pick<Stats, 'ino' | 'size' | 'mtimeMs'> & { readonly digest: string };

/** A long debate has some thousand files. */
const MOST = 50_000;

/** What this process has written, by path: the digest of the text and the file as it was then. */
const written = new Map<string, Written>();

/** Notes a file after it was written. */
export function noteWritten(path: string, digest: string, { ino, size, mtimeMs }: Stats): void {
  if (written.size >= MOST) written.clear();
  written.set(path, { digest, ino, size, mtimeMs });
}

/** Whether this process has written this text there; others may have changed it since. */
export const wasWritten = (path: string, digest: string): boolean =>
  written.get(path)?.digest === digest;

/** Whether a file holds this text: this process wrote it, and nobody has changed or replaced it. */
export function isWritten(path: string, digest: string, found: Stats | null | undefined): boolean {
  const noted = written.get(path);
  if (!noted || !found) return false;
  const { ino, size, mtimeMs } = found;
  return (
    noted.digest === digest && noted.ino === ino && noted.size === size && noted.mtimeMs === mtimeMs
  );
}
