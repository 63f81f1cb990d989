import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdir,
  open,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, DialecticError } from '../errors/errors.ts';
import { newId } from './ids.ts';

// Most calls of the file system here are synchronous: each takes some ten microseconds, and by way of a
// promise and a thread of Node's pool three times the processor time. To create a file or a folder takes
// half a millisecond of the kernel, so that goes to the pool: a debate has a thousand files, and in that
// time the main thread answers models and the store. Who writes many of them lets others in between
// (`Slices`).

const openInPool = promisify(open);
const mkdirInPool = promisify(mkdir);

/** How the names of what is not whole yet begin; a killed process may leave one behind. */
export const PARTIAL_PREFIX = '.dialectic-';

/**
 * Writes text or bytes whole or not at all: a reader sees the old file or the new one. A link in its
 * place is replaced, not followed. Without `mode` the rights of the file that stood there `before` stay.
 * Returns what the file is now.
 */
export async function replaceText(
  path: string,
  text: string | Uint8Array,
  { mode, before }: { readonly mode?: number; readonly before?: Stats | null } = {},
): Promise<Stats> {
  const partial = join(dirname(path), `${PARTIAL_PREFIX}${newId()}`);
  try {
    const older = before === undefined ? lookNow(path) : before;
    const kept = older?.isFile() ? older.mode & 0o777 : 0o666;
    const file = await openInPool(partial, 'wx', mode ?? kept);
    let written: Stats;
    try {
      writeFileSync(file, text);
      written = fstatSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(partial, path);
    return written;
  } catch (thrown) {
    rmSync(partial, { force: true });
    throw thrown;
  }
}

/**
 * Makes the folders of a path below a root; one that is a link, or no folder, is refused. Who makes
 * those of many paths gives a set, in which they are noted.
 */
export async function makeFoldersWithin(
  root: string,
  path: string,
  made = new Set<string>(),
): Promise<void> {
  let folder = root;
  for (const part of dirname(path).split('/')) {
    if (part === '.') return;
    folder = join(folder, part);
    if (made.has(folder)) continue;
    try {
      await mkdirInPool(folder);
    } catch (thrown) {
      if (codeOf(thrown) !== 'EEXIST') throw thrown;
    }
    await requireOwnFolder(folder);
    made.add(folder);
  }
}

/**
 * Whether a path below a root has a link on its way; the path itself may be one. Who asks for many
 * paths at once gives a set, in which folders are noted that are none.
 */
export async function hasLinkOnTheWay(
  root: string,
  path: string,
  noLinks = new Set<string>(),
): Promise<boolean> {
  let folder = root;
  for (const part of dirname(path).split('/')) {
    if (part === '.') return false;
    folder = join(folder, part);
    if (noLinks.has(folder)) continue;
    if (lookNow(folder)?.isSymbolicLink()) return true;
    noLinks.add(folder);
  }
  return false;
}

/** What stands at a path, without following a link; null where nothing does. */
export const lookAt = async (path: string): Promise<Stats | null> => lookNow(path);

function lookNow(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOTDIR') return null;
    throw thrown;
  }
}

/** Refuses a link: a write would follow it out of the folder. */
export async function requireOwnFolder(folder: string): Promise<void> {
  const entry = await lookAt(folder);
  if (entry === null || entry.isDirectory()) return;
  if (!entry.isSymbolicLink()) {
    throw new DialecticError('folder_unusable', `${folder} is not a folder.`);
  }
  const message = `${folder} is a link, and nothing is written through links. Name the folder itself.`;
  throw new DialecticError('folder_occupied', message);
}
