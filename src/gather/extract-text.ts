import { basename, extname } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import type { SourceDraft } from '../sources/source.ts';
import { type Description, describeMarkdown } from './describe-markdown.ts';

/** The text of some bytes, and what they say about themselves. */
type Extracted = { readonly text: string; readonly about: Description };

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
};

/** The type of a file's bytes, by its name. */
export const mediaTypeOf = (path: string): string =>
  MEDIA_TYPES[extname(path).toLowerCase()] ?? 'text/plain';

/** A draft of a source out of its bytes; refuses by name what holds no text that can be read. */
export async function draftOf(
  bytes: Uint8Array,
  mediaType: string,
  place: string,
): Promise<SourceDraft> {
  const { text, about } = await extract(bytes, mediaType, place);
  if (text.trim() === '') {
    throw new DialecticError('source_unreadable', `${place} holds no text.`);
  }
  return { title: nameOf(place), ...about, excerpts: [text] };
}

async function extract(bytes: Uint8Array, mediaType: string, place: string): Promise<Extracted> {
  const text = decodeText(bytes, place);
  return { text, about: mediaType === 'text/markdown' ? describeMarkdown(text) : {} };
}

const nameOf = (place: string): string => basename(place, extname(place)) || place;

const KNOWN = 'Markdown, text';

/** The text of bytes in UTF-8, or in UTF-16 with its mark. */
function decodeText(bytes: Uint8Array, place: string): string {
  const encoding = encodingOf(bytes);
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Told below, together with texts that hold a zero byte.
  }
  throw new DialecticError('file_not_text', `${place} is not text in UTF-8; ${KNOWN} are read.`);
}

const encodingOf = ([first, second]: Uint8Array): string => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
};
