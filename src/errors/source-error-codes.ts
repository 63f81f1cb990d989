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
} as const satisfies Record<string, ErrorCodeEntry>;
