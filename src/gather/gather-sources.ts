import { realpath } from 'node:fs/promises';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { draftOf, mediaTypeOf } from './extract-text.ts';
import {
  digestOf,
  type Gathered,
  type GatheredSource,
  type RefusedPlace,
} from './gathered-source.ts';
import { listFiles } from './list-files.ts';
import { MOST_BYTES, readBytes } from './read-bytes.ts';

/** How sources are gathered. */
export type GatherOptions = {
  /** The largest file or page that is taken, in bytes; 10 MB. */
  readonly maxBytes?: number;
  /** The most bytes that are taken in all; 100 MB. */
  readonly maxTotalBytes?: number;
  readonly signal?: AbortSignal;
};

const MOST_TOTAL = 100_000_000;

/**
 * Reads sources out of files, folders and addresses. The order is that of the places, and that of names
 * in a folder; a file that is named twice is read once. What cannot be taken stands in `refused` with
 * its reason, and the rest is gathered all the same.
 */
export async function gatherSources(
  places: readonly string[],
  options: GatherOptions = {},
): Promise<Gathered> {
  const sources: GatheredSource[] = [];
  const refused: RefusedPlace[] = [];
  const seen = new Set<string>();
  let total = 0;
  for (const place of places) {
    const listing = await settle(place, refused, () => listFiles(place));
    refused.push(...(listing?.refused ?? []));
    for (const path of listing?.files ?? []) {
      options.signal?.throwIfAborted();
      const real = await realpath(path).catch(() => path);
      if (seen.has(real)) continue;
      seen.add(real);
      const source = await settle(path, refused, () => gatherFile(path, options));
      if (source === undefined) continue;
      total += source.archived?.bytes.length ?? 0;
      requireRoom(total, options.maxTotalBytes ?? MOST_TOTAL);
      sources.push(source);
    }
  }
  return { sources, refused };
}

async function gatherFile(path: string, options: GatherOptions): Promise<GatheredSource> {
  const bytes = await readBytes(path, options.maxBytes ?? MOST_BYTES);
  const mediaType = mediaTypeOf(path);
  const draft = await draftOf(bytes, mediaType, path);
  return { place: path, draft, archived: { bytes, mediaType, sha256: digestOf(bytes) } };
}

/** The outcome of one place; its failure is noted and does not end the others. */
async function settle<T>(
  place: string,
  refused: RefusedPlace[],
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    refused.push({ place, error: toDialecticError(thrown) });
    return undefined;
  }
}

function requireRoom(total: number, most: number): void {
  if (total <= most) return;
  const message = `The sources have more than ${most} bytes together.`;
  throw new DialecticError('file_too_large', message);
}
