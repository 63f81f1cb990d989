import type { Stats } from 'node:fs';

/** What stands in a place since it was last looked at. */
type Standing = {
  /** Of what was to be written: the digest of the text, or of what it is made from. */
  readonly digest: string;
  /** Of the text that the program wrote there last. */
  readonly hash: string;
  /** Whether a person has changed it since. */
  readonly isChanged: boolean;
};
type Written = Standing & Pick<Stats, 'ino' | 'size' | 'mtimeMs'>;

/** A long debate has some thousand files. */
const MOST = 50_000;

/** What this process has written or left, by path, and the file as it was then. */
const written = new Map<string, Written>();

/** Notes a file after it was written, or left as a person has changed it. */
export function noteWritten(path: string, standing: Standing, found: Stats): void {
  if (written.size >= MOST) written.clear();
  const { ino, size, mtimeMs } = found;
  written.set(path, { ...standing, ino, size, mtimeMs });
}

/** Whether this process has written this text there; others may have changed it since. */
export const wasWritten = (path: string, digest: string): boolean =>
  written.get(path)?.digest === digest;

/** What stands there, if this process has written or left it and nobody has touched it since. */
export function findWritten(
  path: string,
  digest: string,
  found: Stats | null | undefined,
): Standing | null {
  const noted = written.get(path);
  if (!noted || !found) return null;
  const { ino, size, mtimeMs } = found;
  const isSame =
    noted.digest === digest &&
    noted.ino === ino &&
    noted.size === size &&
    noted.mtimeMs === mtimeMs;
  return isSame ? noted : null;
}
