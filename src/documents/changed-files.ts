import { readdir, rename } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { codeOf } from '../errors/errors.ts';
import { readRegularFile } from '../platform/read-regular-file.ts';
import { hasLinkOnTheWay, lookAt, makeFoldersWithin } from '../platform/safe-writes.ts';
import { hashOf } from './blobs.ts';

/** Where a person's version of a file goes when the program has a new one. */
const FOLDER = 'edited';

/** More than any file of an export has; what is larger was not written by the program. */
const MOST_BYTES = 128_000_000;

/** The hash of what a file holds; none where it cannot be read. */
export const readHash = (path: string): Promise<string | null> =>
  readRegularFile(path, { atMostBytes: MOST_BYTES, noLink: true }).then(hashOf, () => null);

/** Makes room for a new version of a file that a person has changed. */
export async function moveChanged(out: string, path: string): Promise<void> {
  const { dir, name, ext } = parse(path);
  for (let copy = 1; ; copy++) {
    const numbered = copy === 1 ? name : `${name}-${copy}`;
    const free = join(FOLDER, dir, `${numbered}${ext}`);
    if ((await lookAt(join(out, free))) !== null) continue;
    await makeFoldersWithin(out, free);
    return rename(join(out, path), join(out, free));
  }
}

/** Files that a person has changed and that have new versions since. */
export async function listMoved(out: string): Promise<string[]> {
  if (await hasLinkOnTheWay(out, join(FOLDER, 'any'))) return [];
  try {
    const entries = await readdir(join(out, FOLDER), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(join(out, '/').length));
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR') return [];
    throw thrown;
  }
}
