import { basename, extname } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import type { SourceDraft } from '../sources/source.ts';
import { SOURCE_LIMITS, tooLong } from '../sources/source-limits.ts';
import { describeMarkdown } from './describe-markdown.ts';
import { type Extracted, Unreadable } from './extracted.ts';
import type { Extractor } from './extractor.ts';

/** Bytes with all that is known of them. */
export type Content = {
  readonly place: string;
  /** The title where the bytes tell none; the name of the file. */
  readonly name?: string;
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly charset?: string;
};

const PARSED = [
  'text/html',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
];

/** A draft of a source out of its bytes; refuses by name what holds no text that can be read. */
export async function draftOf(content: Content, extractor: Extractor): Promise<SourceDraft> {
  const { place } = content;
  try {
    const { text, about } = await extract(content, extractor);
    const clean = text.replaceAll('\0', '').toWellFormed();
    if (clean.trim() === '') throw new Unreadable('holds no text');
    if (clean.length > SOURCE_LIMITS.each) throw tooLong(place, clean.length);
    return { title: content.name ?? nameOf(place), ...about, excerpts: [clean] };
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    const message = `${place} ${thrown.message}.`;
    throw new DialecticError('source_unreadable', message, { cause: thrown });
  }
}

async function extract(content: Content, extractor: Extractor): Promise<Extracted> {
  const { bytes, mediaType, charset, place } = content;
  if (PARSED.includes(mediaType)) {
    return extractor.extract({ bytes, mediaType, ...(charset !== undefined && { charset }) });
  }
  if (mediaType === 'application/msword') {
    throw new Unreadable('is an old or protected Office file; save it as DOCX without a password');
  }
  const text = decodeText(bytes, place, charset);
  return mediaType === 'text/markdown' ? describeMarkdown(text) : { text, about: {} };
}

const nameOf = (place: string): string => basename(place, extname(place)) || place;

/** The text of bytes in UTF-8, in UTF-16 with its mark, or in what a server says. */
function decodeText(bytes: Uint8Array, place: string, charset?: string): string {
  try {
    const encoding = encodingOf(bytes) ?? charset ?? 'utf-8';
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Told below, together with texts that hold a zero byte.
  }
  const message = `${place} is not text in UTF-8, and no HTML, PDF or DOCX.`;
  throw new DialecticError('file_not_text', message);
}

const encodingOf = ([first, second]: Uint8Array): string | undefined => {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
};
