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
} as const satisfies Record<string, ErrorCodeEntry>;
