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
import { moveChanged, readHash } from './changed-files.ts';
import { deconstructPath } from './paths.ts';
import { findWritten, noteWritten } from './written-files.ts';

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
type Claim = {
  readonly owner: string;
  readonly files: readonly string[];
  /** Of the texts as they were written, where that is known: so what a person has changed shows. */
  readonly hashes: Readonly<Record<string, string>>;
};

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

/** A session whose folder it is, and the project, whose mark the folder carries. */
type FolderOwner = { readonly session: string; readonly project: string };

/**
 * Refuses a folder that does not carry the project's mark. A store may come from somebody else: that
 * it names a folder is no reason to write there, or to show what stands there.
 */
export async function requireMarked(out: string, { session, project }: FolderOwner): Promise<void> {
  const claim = await findClaim(out);
  if (claim?.owner === project) return;
  const why = claim ? 'was written for another project' : `has no ${CLAIM} of this project`;
  throw new DialecticError(
    'folder_occupied',
    `${out} ${why}; write it anew into an empty folder with: dialectic export ${session} -o DIR`,
  );
}

/** Whether a folder is there and carries the project's mark; false where the mark cannot be read. */
export const isMarked = (out: string, project: string): Promise<boolean> =>
  findClaim(out).then(
    (claim) => claim?.owner === project,
    () => false,
  );

async function findClaim(out: string): Promise<Claim | null> {
  await requireOwnFolder(out);
  return (await lookAt(join(out, CLAIM))) === null ? null : readClaim(out);
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
  const { files, hashes } = await readOwned(out, owner);
  await makeFolder(out);
  await writeClaim(out, { owner, files, hashes });
}

/**
 * Brings the owner's files in a folder up to date. Before the first is written, every place is
 * looked at: a file that the program did not write there, and a link, are left alone and refused.
 * What is still as this process left it is not written again, and what a person has changed stays
 * until there is a new version of it, which moves theirs aside. Returns the files that stand as a person
 * has changed them; null, with nothing written, where a text is to be written that was not read again.
 */
export async function writeOwned(
  out: string,
  owner: string,
  files: ReadonlyMap<string, FileContent>,
  slices = new Slices(),
): Promise<readonly string[] | null> {
  const claim = await readOwned(out, owner);
  const known = new Set(claim.files);
  const found = await requireAllFree(out, [...files.keys()], known, slices);
  const hashes = new Map(Object.entries(claim.hashes));
  const due = new Set<string>();
  const changed: string[] = [];
  for (const [path, content] of files) {
    const standing = findWritten(resolve(out, path), digestOf(content), found.get(path));
    if (standing) hashes.set(path, standing.hash);
    else if (isLazy(content) && content.make === null) return null;
    else due.add(path);
    if (standing?.isChanged) changed.push(path);
  }
  await makeFolder(out);
  const noted = new Set([...known, ...files.keys()]);
  const stale = [...known].filter((path) => !files.has(path) && isShownAsCurrent(path));
  const note = (isKnown: (path: string) => boolean): Promise<void> => {
    const sure = [...hashes].filter(([path]) => noted.has(path) && isKnown(path));
    return writeClaim(out, { owner, files: [...noted], hashes: Object.fromEntries(sure) });
  };
  if (due.size + stale.length === 0 && noted.size > 0) return changed;
  // Noted first: after a kill in the midst, the next export knows its own files, and takes none of its
  // own texts for a person's.
  await note((path) => !due.has(path));
  for (const path of stale) {
    await removeStale(out, path, hashes.get(path));
    noted.delete(path);
  }
  const made = new Set<string>();
  try {
    for (const path of due) {
      await slices.rest();
      const place = { out, path, before: found.get(path) ?? null, made };
      const standing = await writeOne(place, files.get(path)!, hashes.get(path));
      if (standing.isChanged) changed.push(path);
      hashes.set(path, standing.hash);
    }
  } catch (thrown) {
    await note(() => true).catch(() => {}); // what stopped the files is told
    throw thrown;
  }
  await note(() => true);
  return changed;
}

const digestOf = (content: FileContent): string =>
  isLazy(content) ? content.key : hashOf(content);

type Place = {
  readonly out: string;
  readonly path: string;
  readonly before: Stats | null;
  /** Folders that are known to be there. */
  readonly made: Set<string>;
};

/** Writes a file, unless it holds the text already or a person has changed what is the text still. */
async function writeOne(
  { out, path, before, made }: Place,
  content: FileContent,
  written: string | undefined,
) {
  const place = resolve(out, path);
  const digest = digestOf(content);
  const text = isLazy(content) ? content.make!() : content;
  // Encoded once: texts of megabytes are hashed and written.
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const hash = hashOf(bytes);
  try {
    const held = before && written !== undefined ? await readHash(place) : undefined;
    const isChanged = held !== undefined && held !== written && held !== hash;
    const standing = { digest, hash, isChanged: isChanged && hash === written };
    if (before && (held === hash || standing.isChanged)) {
      noteWritten(place, standing, before);
      return standing;
    }
    if (isChanged) await moveChanged(out, path);
    await makeFoldersWithin(out, path, made);
    noteWritten(place, standing, await replaceText(place, bytes, { before }));
    return standing;
  } catch (thrown) {
    throw explain(thrown, out);
  }
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

/** What the program wrote into a folder for an owner; refuses a folder of others. */
async function readOwned(out: string, owner: string | null): Promise<Omit<Claim, 'owner'>> {
  await requireOwnFolder(out);
  const names = await readdir(out).catch((thrown: NodeJS.ErrnoException): string[] => {
    if (thrown.code === 'ENOENT') return [];
    throw explain(thrown, out);
  });
  const claim = names.includes(CLAIM) ? await readClaim(out) : null;
  if (claim !== null && claim.owner === owner) return claim;
  if (claim !== null) throw occupied(out, 'was written for another project', 'project');
  const others = names.filter(
    (name) => name !== LEFT_BY_SYSTEM && !name.startsWith(PARTIAL_PREFIX),
  );
  if (others.length === 0) return { files: [], hashes: {} };
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
    const { owner, files, hashes }: Record<string, unknown> = JSON.parse(text);
    if (typeof owner !== 'string' || !Array.isArray(files)) return null;
    const known = Object.entries(hashes ?? {}).filter(([, hash]) => typeof hash === 'string');
    return {
      owner,
      files: files.filter((path) => typeof path === 'string'),
      hashes: Object.fromEntries(known),
    };
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
 * A work item or result that is no longer there would be taken for a current one; what a person has
 * changed of it is kept aside. The list lies in a folder that others can write to: without the hash of
 * what the program wrote, a file counts as a person's.
 */
async function removeStale(out: string, path: string, written: string | undefined): Promise<void> {
  if (await hasLinkOnTheWay(out, path)) return;
  const place = join(out, path);
  const isThere = (await lookAt(place))?.isFile() ?? false;
  if (isThere && (written === undefined || (await readHash(place)) !== written)) {
    await moveChanged(out, path);
  } else await rm(place, { force: true });
}

/** The list may name nothing but such files. */
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
