import { realpath } from 'node:fs/promises';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { createConcurrencyLimit } from '../models/concurrency-limit.ts';
import { canonicalUrl } from '../sources/canonical-key.ts';
import { lengthOf, SOURCE_LIMITS, tooMuch } from '../sources/source-limits.ts';
import { countNoun } from '../text/count-noun.ts';
import { draftOf } from './extract-text.ts';
import { type ExtractLimits, Extractor } from './extractor.ts';
import { type FetchOptions, PageFetcher } from './fetch-page.ts';
import { gatherPage } from './gather-page.ts';
import {
  digestOf,
  type Gathered,
  type GatheredSource,
  type RefusedPlace,
} from './gathered-source.ts';
import { listFiles } from './list-files.ts';
import { mediaTypeOf } from './media-type.ts';
import { MOST_BYTES, readBytes } from './read-bytes.ts';

/** How sources are gathered. */
export type GatherOptions = ExtractLimits &
  FetchOptions & {
    /** The most bytes that are taken in all; 100 MB. */
    readonly maxTotalBytes?: number;
  };

/**
 * Bytes of files and pages are held with their texts until the store has them. They have a limit of
 * their own: a PDF has far more bytes than text, and a Chinese character has three.
 */
const MOST_TOTAL_BYTES = 100_000_000;
/** So many pages are fetched at once. */
const MOST_AT_ONCE = 10;

/**
 * Reads sources out of files, folders and addresses. The order is that of the places, and that of names
 * in a folder; what is named twice is read once. Pages are fetched beside each other. What cannot be
 * taken stands in `refused` with its reason, and the rest is gathered all the same.
 */
export async function gatherSources(
  places: readonly string[],
  options: GatherOptions = {},
): Promise<Gathered> {
  const extractor = new Extractor(options);
  try {
    const gathering = new Gathering(extractor, options);
    const pages = fetchPages(places.filter(isAddress), extractor, options);
    for (const place of places) {
      const page = pages.get(place);
      if (page === undefined) await gathering.takeFiles(place);
      else await gathering.takePage(place, page);
    }
    return gathering;
  } finally {
    await extractor.close();
  }
}

/** Anything with a scheme: what may be fetched of it is for the guard to say. */
const isAddress = (place: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(place);

type Page = () => Promise<GatheredSource>;

/** Starts to fetch pages, ten at once; each is taken where its place comes. */
function fetchPages(
  places: readonly string[],
  extractor: Extractor,
  options: GatherOptions,
): Map<string, Page> {
  const limit = createConcurrencyLimit(MOST_AT_ONCE);
  const fetcher = new PageFetcher(options);
  return new Map(
    [...new Set(places)].map((place) => {
      const page = limit.run(() => gatherPage(place, fetcher, extractor), options.signal);
      // It is waited for later, or never where an earlier place ends with an error.
      page.catch(() => undefined);
      return [place, () => page];
    }),
  );
}

/** What was gathered so far, and how much it is. */
class Gathering implements Gathered {
  readonly sources: GatheredSource[] = [];
  readonly refused: RefusedPlace[] = [];
  readonly #extractor: Extractor;
  readonly #options: GatherOptions;
  readonly #seen = new Set<string>();
  #bytes = 0;
  #characters = 0;

  constructor(extractor: Extractor, options: GatherOptions) {
    this.#extractor = extractor;
    this.#options = options;
  }

  /** Takes a file, or the files of a folder. */
  async takeFiles(place: string): Promise<void> {
    const listing = await this.#settle(place, () => listFiles(place));
    this.refused.push(...(listing?.refused ?? []));
    for (const path of listing?.files ?? []) {
      this.#options.signal?.throwIfAborted();
      const real = await realpath(path).catch(() => path);
      if (this.#seen.has(real)) continue;
      this.#seen.add(real);
      const source = await this.#settle(path, () => this.#readFile(path));
      if (source !== undefined) this.#add(source);
    }
  }

  /** Takes a page; two addresses of one page are one source. */
  async takePage(place: string, page: Page): Promise<void> {
    const source = await this.#settle(place, page);
    this.#options.signal?.throwIfAborted();
    const { url } = source?.draft ?? {};
    const key = url === undefined ? place : (canonicalUrl(url) ?? url);
    if (source === undefined || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#add(source);
  }

  async #readFile(place: string): Promise<GatheredSource> {
    const bytes = await readBytes(place, this.#options.maxBytes ?? MOST_BYTES);
    const mediaType = mediaTypeOf(bytes, place);
    const draft = await draftOf({ place, bytes, mediaType }, this.#extractor);
    return { place, draft, archived: { bytes, mediaType, sha256: digestOf(bytes) } };
  }

  /** The outcome of one place; its failure is noted and does not end the others. */
  async #settle<T>(place: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (thrown) {
      this.refused.push({ place, error: toDialecticError(thrown) });
      return undefined;
    }
  }

  #add(source: GatheredSource): void {
    const most = this.#options.maxTotalBytes ?? MOST_TOTAL_BYTES;
    this.#characters += lengthOf(source.draft.excerpts);
    if (this.#characters > SOURCE_LIMITS.together) throw tooMuch(source.place, this.#characters);
    this.#bytes += source.archived?.bytes.length ?? 0;
    if (this.#bytes > most) {
      const message =
        `With ${source.place} the sources have more than ${countNoun(most, 'byte')} together. ` +
        'Leave some out, or give them to a project of their own.';
      throw new DialecticError('file_too_large', message);
    }
    this.sources.push(source);
  }
}
