import { DialecticError } from '../errors/errors.ts';
import { createConcurrencyLimit } from '../models/concurrency-limit.ts';
import { now as systemNow } from '../platform/clock.ts';
import { canonicalUrl } from '../sources/canonical-key.ts';
import { likenessOf } from '../sources/shingles.ts';
import { type ExtractLimits, Extractor } from './extractor.ts';
import { type FetchOptions, PageFetcher } from './fetch-page.ts';
import { readPage } from './gather-page.ts';
import { digestOf, type GatheredSource } from './gathered-source.ts';

/** What is known of a source from when it was read; a `Source` of the registry is one. */
export type KnownSource = {
  readonly url?: string;
  readonly excerpts: readonly string[];
  /** The SHA-256 of its bytes, where they were archived. */
  readonly sha256?: string;
};

/** How a source stands now. */
export type SourceCheck = {
  /**
   * `unchanged`: the page is there and says what was read of it; `changed`: it no longer does;
   * `moved`: it does at another address for good; `gone`: there is no page; `unchecked`: it could not
   * be asked.
   */
  readonly state: 'unchanged' | 'changed' | 'moved' | 'gone' | 'unchecked';
  readonly at: Date;
  /** Why it is gone or could not be checked. */
  readonly reason?: string;
  /** Where it is now, where it has moved. */
  readonly url?: string;
  /** The share of runs of three words that what was read and the page of now have in common. */
  readonly likeness?: number;
  /** The page of now, where it changed or moved, to be registered or archived. */
  readonly found?: GatheredSource;
};

/** How sources are checked. */
export type CheckOptions = ExtractLimits & FetchOptions & { readonly now?: () => Date };

const MOST_AT_ONCE = 10;
const DAY_MS = 86_400_000;

/** Looks whether a source is still there and still says what was read of it. */
export async function checkSource(
  known: KnownSource,
  options: CheckOptions = {},
): Promise<SourceCheck> {
  const [check] = await checkSources([known], options);
  if (check === undefined) throw new Error('One source has one check.');
  return check;
}

/** The same for many, ten at once, in their order. */
export async function checkSources(
  all: readonly KnownSource[],
  options: CheckOptions = {},
): Promise<SourceCheck[]> {
  const limit = createConcurrencyLimit(MOST_AT_ONCE);
  const fetcher = new PageFetcher(options);
  const extractor = new Extractor(options);
  const { now = systemNow, signal } = options;
  try {
    return await Promise.all(
      all.map((known) =>
        limit.run(async () => {
          const found = await look(known, fetcher, extractor);
          signal?.throwIfAborted();
          return { ...found, at: now() };
        }, signal),
      ),
    );
  } finally {
    await extractor.close();
  }
}

/** Whether a source was checked, or read, so long ago that it should be checked again. */
export const isCheckDue = (checkedAt: Date, maxAgeDays: number, now: Date = systemNow()): boolean =>
  now.getTime() - checkedAt.getTime() >= maxAgeDays * DAY_MS;

type Found = Omit<SourceCheck, 'at'>;

async function look(
  known: KnownSource,
  fetcher: PageFetcher,
  extractor: Extractor,
): Promise<Found> {
  if (known.url === undefined) return { state: 'unchecked', reason: 'It has no address.' };
  try {
    const page = await fetcher.fetch(known.url);
    const isMoved = page.isMoved && canonicalUrl(page.url) !== canonicalUrl(known.url);
    if (!isMoved && digestOf(page.bytes) === known.sha256)
      return { state: 'unchanged', likeness: 1 };
    const found = await readPage(known.url, page, extractor);
    return compare(known, found, isMoved);
  } catch (thrown) {
    if (!(thrown instanceof DialecticError)) throw thrown;
    return { state: thrown.code === 'source_gone' ? 'gone' : 'unchecked', reason: thrown.message };
  }
}

function compare(known: KnownSource, found: GatheredSource, isMoved: boolean): Found {
  const [text = ''] = found.draft.excerpts;
  // Of a source that could not be read before, all is new.
  const says =
    known.excerpts.length > 0 &&
    known.excerpts.every((excerpt) => plain(text).includes(plain(excerpt)));
  const likeness = says ? 1 : likenessOf(known.excerpts.join('\n'), text);
  const { url } = found.draft;
  if (isMoved && says && url !== undefined) return { state: 'moved', likeness, url, found };
  return says ? { state: 'unchanged', likeness } : { state: 'changed', likeness, found };
}

const plain = (text: string): string => text.normalize('NFKC').replace(/\s+/g, ' ').trim();
