import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { DialecticError } from '../errors/errors.ts';
import { explain } from '../platform/folders.ts';
import { countNoun } from '../text/count-noun.ts';

/** The largest file or page that is taken as a source. */
export const MOST_BYTES = 10_000_000;

/**
 * The bytes of a file, at most `most` of them. The size is checked on the open file and again while it
 * is read, so that neither a swap nor a growing file gets past the limit; a pipe does not block.
 */
export async function readBytes(path: string, most = MOST_BYTES): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const entry = await file.stat();
    if (!entry.isFile()) {
      throw new DialecticError('file_not_text', `${path} is no longer a file.`);
    }
    if (entry.size > most) throw tooLarge(path, entry.size, most);
    const bytes = Buffer.alloc(Math.min(entry.size + 1, most + 1));
    const read = await fill(file, bytes);
    if (read > most) throw tooLarge(path, read, most);
    return bytes.subarray(0, read);
  } catch (thrown) {
    throw explain(thrown, path);
  } finally {
    await file?.close();
  }
}

async function fill(file: FileHandle, bytes: Buffer): Promise<number> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return at;
}

const tooLarge = (path: string, size: number, most: number): DialecticError =>
  new DialecticError(
    'file_too_large',
    `${path} has ${countNoun(size, 'byte')}; ${countNoun(most, 'byte')} may be.`,
  );
