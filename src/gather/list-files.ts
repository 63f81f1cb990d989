import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import { explain } from '../platform/folders.ts';
import { countNoun } from '../text/count-noun.ts';
import type { RefusedPlace } from './gathered-source.ts';

/** So many files are taken from one folder; beyond that the wrong folder was named. */
const MOST_FILES = 5_000;

type Listing = { readonly files: string[]; readonly refused: RefusedPlace[] };

/**
 * The files of a named place: the file itself, or all files below a folder in the order of their
 * names. Names with a leading dot are left out (.git, .DS_Store). A link below a folder is not followed:
 * where it leads out of the folder it is refused by name, else its target is listed anyway.
 */
export async function listFiles(place: string): Promise<Listing> {
  const listing: Listing = { files: [], refused: [] };
  try {
    const entry = await stat(place);
    if (entry.isDirectory()) await listInto(listing, place, await realpath(place));
    else if (entry.isFile()) listing.files.push(place);
    else listing.refused.push({ place, error: notFile(place, 'is a device, a pipe or a socket') });
  } catch (thrown) {
    throw explain(thrown, place);
  }
  return listing;
}

async function listInto(listing: Listing, folder: string, root: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await listInto(listing, path, root);
    else if (entry.isFile()) listing.files.push(path);
    else if (!(await leadsWithin(path, root))) {
      const what = entry.isSymbolicLink()
        ? 'is a link that leads out of the folder or nowhere'
        : 'is a device, a pipe or a socket';
      listing.refused.push({ place: path, error: notFile(path, what) });
    }
    if (listing.files.length > MOST_FILES) {
      const message = `${folder} brings the named folder to more than ${countNoun(MOST_FILES, 'file')}.`;
      throw new DialecticError('file_too_large', message);
    }
  }
}

/** Whether a link ends below the folder that was named. */
async function leadsWithin(path: string, root: string): Promise<boolean> {
  if (!(await lstat(path)).isSymbolicLink()) return false;
  const target = await realpath(path).catch(() => undefined);
  return target !== undefined && (target === root || target.startsWith(root + sep));
}

const notFile = (path: string, what: string): DialecticError =>
  new DialecticError('file_not_text', `${path} ${what}.`);
