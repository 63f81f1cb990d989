import { type ErrorCodeEntry, entry } from './error-code.ts';

/** The codes of sources: files, pages and searches. */
export const SOURCE_ERROR_CODES = {
  source_unreadable: entry(
    2,
    422,
    false,
    'A file or page is empty, broken or encrypted, or holds no text that can be read.',
    'Open it and save it anew as PDF, DOCX, HTML, Markdown or text, without a password.',
  ),
  source_address_refused: entry(
    4,
    403,
    false,
    'An address is not one of the public internet, leads to one that is not, or cannot be fetched.',
    'Name a public http or https address; `allowPrivate` opens a host of your own network.',
  ),
  source_unreachable: entry(
    5,
    502,
    true,
    'A page could not be fetched: its host fails, refuses, redirects in circles or does not answer.',
    'Open the address in a browser; save the page and name the file, or try again later.',
  ),
  source_gone: entry(
    5,
    404,
    false,
    'There is no page at an address any more.',
    'Correct the address, or name an archived copy of the page.',
  ),
  search_not_configured: entry(
    2,
    400,
    false,
    'A search service is named that has no address or no key.',
    'Set what the message names, or search a folder.',
  ),
  search_refused: entry(
    6,
    502,
    false,
    'A search service refused the request: its key, or the request itself.',
    'Set another key; the message says with which status it answered.',
  ),
  search_unavailable: entry(
    6,
    503,
    true,
    'A search service failed, asks for fewer requests, or did not answer.',
    'Try again later; check the network and the address of the service.',
  ),
} as const satisfies Record<string, ErrorCodeEntry>;
