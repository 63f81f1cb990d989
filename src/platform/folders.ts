import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import { readRegularFile } from './read-regular-file.ts';
import {
  hasLinkOnTheWay,
  makeFoldersWithin,
  replaceText,
  requireOwnFolder,
} from './safe-writes.ts';

/** What a folder of texts may hold; beyond it somebody named the wrong folder. */
type FolderLimits = {
  readonly maxFileBytes: number;
  readonly maxFolderBytes: number;
  readonly maxFiles: number;
};

const LIMITS: FolderLimits = {
  maxFileBytes: 1_000_000,
  maxFolderBytes: 32_000_000,
  maxFiles: 5_000,
};

/** Each file that is read has a descriptor, and many systems give a process no more than 256. */
const READ_AT_ONCE = 64;

/**
 * The texts of a folder by relative path with forward slashes, in the order of their names. Names
 * with a leading dot are left out (.git, .DS_Store). Links are refused, since they could lead out
 * of the folder, and so is what is no text or too large.
 */
export async function readTextFolder(
  folder: string,
  limits: FolderLimits = LIMITS,
): Promise<Map<string, string>> {
  try {
    const paths = await listFiles(folder, '', limits);
    await refuseTooLarge(folder, paths, limits);
    const texts = new Map<string, string>();
    // At once: a recipe has a hundred files, and each alone waits for a thread to read it.
    for (let from = 0; from < paths.length; from += READ_AT_ONCE) {
      const read = paths
        .slice(from, from + READ_AT_ONCE)
        .map(async (path) => [path, await readText(join(folder, path), limits)] as const);
      for (const [path, text] of await Promise.all(read)) texts.set(path, text);
    }
    return texts;
  } catch (thrown) {
    throw explain(thrown, folder);
  }
}

/** One folder after the other, so that a wrong one is refused before much of it was listed. */
async function listFiles(
  root: string,
  prefix: string,
  limits: FolderLimits,
  found: string[] = [],
  seen = { folders: 0 },
): Promise<string[]> {
  seen.folders += 1;
  if (seen.folders > limits.maxFiles) throw tooMuch(root, limits);
  const entries = await readdir(join(root, prefix), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory()) await listFiles(root, `${path}/`, limits, found, seen);
    else if (entry.isFile()) found.push(path);
    else throw refuse('file_not_text', `${join(root, path)} is a link or a device.`);
    if (found.length > limits.maxFiles) throw tooMuch(root, limits);
  }
  return found;
}

async function refuseTooLarge(
  root: string,
  paths: readonly string[],
  limits: FolderLimits,
): Promise<void> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(join(root, path))).size));
  const large = sizes.findIndex((size) => size > limits.maxFileBytes);
  if (large >= 0) {
    const said = `${join(root, paths[large]!)} has ${sizes[large]} bytes`;
    throw refuse('file_too_large', `${said}; ${limits.maxFileBytes} may be.`);
  }
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > limits.maxFolderBytes) throw tooMuch(root, limits);
}

function tooMuch(root: string, limits: FolderLimits): DialecticError {
  const most = `${limits.maxFiles} files and ${limits.maxFolderBytes} bytes`;
  return refuse('file_too_large', `${root} holds more than ${most}.`);
}

const readText = async (path: string, { maxFileBytes }: FolderLimits): Promise<string> =>
  decode(path, await readRegularFile(path, { atMostBytes: maxFileBytes, noLink: true }));

function decode(path: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Told below, together with texts that hold a zero byte.
  }
  throw refuse('file_not_text', `${path} is not text in UTF-8.`);
}

/** Writes texts into a folder that is empty or not there yet; paths stay within it. */
export async function writeTextFolder(
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  for (const path of files.keys()) {
    if (leadsOut(path)) throw refuse('path_invalid', `${path} leads out of the folder.`);
  }
  try {
    await requireOwnFolder(folder);
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) {
      throw refuse('folder_occupied', `${folder} is not empty.`);
    }
    for (const [path, text] of files) {
      await makeFoldersWithin(folder, path);
      await replaceText(join(folder, path), text);
    }
  } catch (thrown) {
    throw explain(thrown, folder);
  }
}

/** Brings a folder of texts from one state to another; returns the paths that changed. */
export async function updateTextFolder(
  folder: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Promise<string[]> {
  const gone = [...before.keys()].filter((path) => !after.has(path));
  const changed = [...after].filter(([path, text]) => before.get(path) !== text);
  try {
    for (const path of [...changed.map(([one]) => one), ...gone]) {
      if (!(await hasLinkOnTheWay(folder, path))) continue;
      throw refuse('folder_occupied', `${join(folder, path)} stands behind a link.`);
    }
    for (const [path, text] of changed) {
      await makeFoldersWithin(folder, path);
      await replaceText(join(folder, path), text);
    }
    for (const path of gone) await rm(join(folder, path));
  } catch (thrown) {
    throw explain(thrown, folder);
  }
  return [...changed.map(([path]) => path), ...gone].toSorted();
}

/** Reads one text; a link, a device and what is no text or too large are refused as in a folder. */
export async function readTextFile(path: string, limits: FolderLimits = LIMITS): Promise<string> {
  try {
    return await readText(path, limits);
  } catch (thrown) {
    throw explain(thrown, path);
  }
}

/**
 * The same for a path below a folder that may come from somebody else: it leads through no link, and
 * not out of the folder.
 */
export async function readTextWithin(
  folder: string,
  path: string,
  limits: FolderLimits = LIMITS,
): Promise<string> {
  await requireWithin(folder, path);
  return readTextFile(join(folder, path), limits);
}

/** The texts of a folder below one that may come from somebody else. */
export async function readTextFolderWithin(
  folder: string,
  path: string,
  limits: FolderLimits = LIMITS,
): Promise<Map<string, string>> {
  await requireWithin(folder, join(path, 'any'));
  return readTextFolder(join(folder, path), limits);
}

/** Refuses a path that leads out of the folder that it is in, also through a link. */
export async function requireWithin(folder: string, path: string): Promise<void> {
  if (leadsOut(path)) throw refuse('path_invalid', `${path} leads out of ${folder}.`);
  if (!(await hasLinkOnTheWay(folder, path))) return;
  throw refuse('path_invalid', `${join(folder, path)} stands behind a link.`);
}

/** Whether a relative path could lead out of the folder that it is for, on any system. */
const leadsOut = (path: string): boolean =>
  isAbsolute(path) || path.split(/[\\/]/).some((part) => part === '..' || part === '');

/** Writes one text, over an older one if there is one. */
export async function writeTextFile(path: string, text: string): Promise<void> {
  try {
    await replaceText(path, text);
  } catch (thrown) {
    throw explain(thrown, path);
  }
}

/** The same for a secret: only the owner may read the file, and enter the folder that is made for it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await replaceText(path, text, { mode: 0o600 });
  } catch (thrown) {
    throw explain(thrown, path);
  }
}

const refuse = (
  code: 'file_not_text' | 'file_too_large' | 'folder_occupied' | 'path_invalid',
  message: string,
): DialecticError => new DialecticError(code, message);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
  EEXIST: 'is not a folder',
  EISDIR: 'is a folder',
  EACCES: 'may not be used',
  EPERM: 'may not be used',
  EROFS: 'is on a disk that cannot be written',
  ENOSPC: 'is on a disk without room',
};

/** The system's fault as one of ours, with the path that it is about. */
export function explain(thrown: unknown, folder: string): unknown {
  const { code, path } = thrown as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : REASONS[code];
  if (thrown instanceof DialecticError || reason === undefined) return thrown;
  return new DialecticError('folder_unusable', `${path ?? folder} ${reason}.`, { cause: thrown });
}
