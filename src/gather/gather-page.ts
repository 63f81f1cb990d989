import { DialecticError, messageOf } from '../errors/errors.ts';
import { draftOf } from './extract-text.ts';
import type { Extractor } from './extractor.ts';
import type { FetchedPage, PageFetcher } from './fetch-page.ts';
import { digestOf, type GatheredSource } from './gathered-source.ts';
import { charsetOf, mediaTypeOf } from './media-type.ts';

/** What keeps a page from being read, not from being cited. */
const DEGRADING = new Set([
  'source_unreachable',
  'source_gone',
  'source_unreadable',
  'file_not_text',
  'file_too_large',
  'provider_circuit_open',
]);

/**
 * A page as a source. One that cannot be fetched or read is a degraded source that says why, so that a
 * run does not stop for a page; one whose address may not be asked is refused.
 */
export async function gatherPage(
  place: string,
  fetcher: PageFetcher,
  extractor: Extractor,
): Promise<GatheredSource> {
  try {
    return await readPage(place, await fetcher.fetch(place), extractor);
  } catch (thrown) {
    if (!(thrown instanceof DialecticError) || !DEGRADING.has(thrown.code)) throw thrown;
    return {
      place,
      draft: { title: place, url: place, excerpts: [], degraded: messageOf(thrown) },
    };
  }
}

/** The source that a fetched page is; it stands under the address at which it was found. */
export async function readPage(
  place: string,
  { url, bytes, contentType }: FetchedPage,
  extractor: Extractor,
): Promise<GatheredSource> {
  const mediaType = mediaTypeOf(bytes, new URL(url).pathname, contentType);
  const charset = charsetOf(contentType);
  const content = { place: url, name: url, bytes, mediaType };
  const draft = await draftOf({ ...content, ...(charset && { charset }) }, extractor);
  return {
    place,
    draft: { ...draft, url },
    archived: { bytes, mediaType, sha256: digestOf(bytes) },
  };
}
