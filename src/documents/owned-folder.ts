import type { Stats } from 'node:fs';
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DialecticError, messageOf } from '../errors/errors.ts';
import { Slices } from '../platform/clock.ts';
import { explain, readTextFile, writeTextFile } from '../platform/folders.ts';
import { newId } from '../platform/ids.ts';
import {
  hasLinkOnTheWay,
  lookAt,
  makeFoldersWithin,
  PARTIAL_PREFIX,
  replaceText,
  requireOwnFolder,
} from '../platform/safe-writes.ts';
import { hashOf } from './blobs.ts';
import { deconstructPath } from './paths.ts';
import { isWritten, noteWritten } from './written-files.ts';

/**
 * A text that is made when it is written; `key` is another wherever the text would be another. Null
 * where the file has been written before and nothing was read to make it again.
 */
type LazyText = { readonly key: string; readonly make: (() => string) | null };

/** What goes into a file. */
export type FileContent = string | Uint8Array | LazyText;

/** Whether a text is made only where it is written. */
export const isLazy = (content: FileContent | undefined): content is LazyText =>
  typeof content === 'object' && 'make' in content;

/** What the program has put into a folder, and whose it is: a project's id, or an evaluation's. */
type Claim = { readonly owner: string; readonly files: readonly string[] };

/** Stands in every folder that the program has written. */
const CLAIM = '.dialectic-files.json';
const CLAIM_LIMITS = { maxFileBytes: 64_000_000, maxFolderBytes: 64_000_000, maxFiles: 1 };
/** A file manager leaves it in a folder that looks empty. */
const LEFT_BY_SYSTEM = '.DS_Store';

/**
 * Makes sure that a folder can be written before anything is spent on what goes into it: it is
 * empty, does not exist yet, or is the owner's already. No owner = one that is yet to be made. What
 * did not exist does not exist afterwards either: the run may still be refused for another reason.
 */
export async function requireFolder(out: string | undefined, owner: string | null): Promise<void> {
  if (!out) return;
  await readOwned(out, owner);
  const made = await makeFolder(out);
  const probe = join(out, `${PARTIAL_PREFIX}${newId()}`);
  await writeTextFile(probe, '');
  await rm(probe, { force: true });
  if (made !== undefined) await removeEmpty(resolve(out), made);
}

/** Removes a folder and those above it up to the first that was made, as long as they are empty. */
async function removeEmpty(folder: string, first: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch {
    return; // somebody has put something there since
  }
  if (folder !== first && folder !== dirname(folder)) await removeEmpty(dirname(folder), first);
}

/** Notes whose the folder is, so that what others put there later does not count against it. */
export async function claimFolder(out: string, owner: string): Promise<void> {
  const files = await readOwned(out, owner);
  await makeFolder(out);
  await writeClaim(out, { owner, files });
}

/**
 * Brings the owner's files in a folder up to date. Before the first is written, every place is
 * looked at: a file that the program did not write there, and a link, are left alone and refused.
 * What this process wrote before, and what is still as it left it, is not written again. Returns
 * false, with nothing written, where such a file is gone or changed whose text was not read again.
 */
export async function writeOwned(
  out: string,
  owner: string,
  files: ReadonlyMap<string, FileContent>,
  slices = new Slices(),
): Promise<boolean> {
  const known = new Set(await readOwned(out, owner));
  const found = await requireAllFree(out, [...files.keys()], known, slices);
  const isThere = (path: string, digest: string): boolean =>
    isWritten(resolve(out, path), digest, found.get(path));
  for (const [path, content] of files) {
    if (isLazy(content) && content.make === null && !isThere(path, content.key)) return false;
  }
  await makeFolder(out);
  const noted = new Set([...known, ...files.keys()]);
  // Noted first: after a kill in the midst, the next export knows its own files.
  if (noted.size > known.size) await writeClaim(out, { owner, files: [...noted] });
  const removed = await removeStale(
    out,
    [...known].filter((path) => !files.has(path)),
  );
  const made = new Set<string>();
  for (const [path, content] of files) {
    await slices.rest();
    const digest = isLazy(content) ? content.key : hashOf(content);
    if (isThere(path, digest)) continue;
    const text = isLazy(content) ? content.make?.() : content;
    if (text === undefined) continue; // looked at above
    const place = resolve(out, path);
    try {
      await makeFoldersWithin(out, path, made);
      const before = found.get(path) ?? null;
      noteWritten(place, digest, await replaceText(place, text, { before }));
    } catch (thrown) {
      throw explain(thrown, out);
    }
  }
  const kept = [...noted].filter((path) => files.has(path) || !removed.has(path));
  if (kept.length < noted.size || noted.size === 0) await writeClaim(out, { owner, files: kept });
  return true;
}

/** What stands at each place, of which none may be a link or a file of others. */
async function requireAllFree(
  out: string,
  paths: readonly string[],
  known: ReadonlySet<string>,
  slices: Slices,
): Promise<ReadonlyMap<string, Stats | null>> {
  const noLinks = new Set<string>();
  const found = new Map<string, Stats | null>();
  for (const path of paths) {
    found.set(path, await requireFree(out, path, known, noLinks));
    await slices.rest();
  }
  return found;
}

/** The files that the program wrote into a folder for an owner; refuses a folder of others. */
async function readOwned(out: string, owner: string | null): Promise<readonly string[]> {
  await requireOwnFolder(out);
  const names = await readdir(out).catch((thrown: NodeJS.ErrnoException): string[] => {
    if (thrown.code === 'ENOENT') return [];
    throw explain(thrown, out);
  });
  const claim = names.includes(CLAIM) ? await readClaim(out) : null;
  if (claim !== null && claim.owner === owner) return claim.files;
  if (claim !== null) throw occupied(out, 'was written for another project', 'project');
  const others = names.filter(
    (name) => name !== LEFT_BY_SYSTEM && !name.startsWith(PARTIAL_PREFIX),
  );
  if (others.length === 0) return [];
  const more = others.length > 1 ? ` and ${others.length - 1} more` : '';
  throw occupied(out, `holds ${others[0]}${more}`, 'files');
}

/** `holds` tells programs whether the folder is of another project, or holds files of people. */
const occupied = (out: string, why: string, holds?: 'project' | 'files'): DialecticError =>
  new DialecticError('folder_occupied', `${out} ${why}; name another folder with --out.`, {
    details: holds === undefined ? {} : { folder: out, why, holds },
  });

/** A damaged list, or one without an owner, claims no file. */
async function readClaim(out: string): Promise<Claim | null> {
  const text = await readTextFile(join(out, CLAIM), CLAIM_LIMITS);
  try {
    const { owner, files }: { owner?: unknown; files?: unknown } = JSON.parse(text);
    if (typeof owner !== 'string' || !Array.isArray(files)) return null;
    return { owner, files: files.filter((path) => typeof path === 'string') };
  } catch {
    return null;
  }
}

const writeClaim = (out: string, claim: Claim): Promise<void> =>
  writeTextFile(join(out, CLAIM), `${JSON.stringify(claim, null, 1)}\n`);

async function requireFree(
  out: string,
  path: string,
  known: ReadonlySet<string>,
  noLinks: Set<string>,
): Promise<Stats | null> {
  const place = join(out, path);
  if (await hasLinkOnTheWay(out, path, noLinks)) throw occupied(place, 'stands behind a link');
  const entry = await lookAt(place);
  if (entry === null || (entry.isFile() && known.has(path))) return entry;
  const what = entry.isSymbolicLink() ? 'is a link' : 'is not a file of an earlier export';
  throw occupied(place, what);
}

/**
 * A work item or result that is no longer there would be taken for a current one. The list lies in
 * a folder that others can write to, so that it may name nothing but such files.
 */
async function removeStale(out: string, paths: readonly string[]): Promise<Set<string>> {
  const stale = paths.filter(isShownAsCurrent);
  for (const path of stale) {
    if (!(await hasLinkOnTheWay(out, path))) await rm(join(out, path), { force: true });
  }
  return new Set(stale);
}

function isShownAsCurrent(path: string): boolean {
  try {
    return ['pending', 'result'].includes(deconstructPath(path).kind);
  } catch {
    return false;
  }
}

/** Makes a folder and those above it; returns the first that did not exist. */
async function makeFolder(folder: string): Promise<string | undefined> {
  try {
    return await mkdir(folder, { recursive: true });
  } catch (cause) {
    const message = `Cannot write to ${folder}: ${messageOf(cause)}`;
    throw new DialecticError('folder_unusable', message, { cause });
  }
}
