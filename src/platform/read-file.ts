import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf, DialecticError } from '../errors/errors.ts';

// A folder may come from somebody else, with a pipe, a device, a link or gigabytes where a small file is
// expected. So the kind and the size are those of the open file, and no more is read than was allowed,
// also of a file that grows. A pipe opens at once, and is refused.

/** Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** The bytes of a file; refuses a link, what is no file, and more than `most` bytes. */
export async function readBytesOf(path: string, most: number): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, FLAGS);
    const entry = await file.stat();
    const bytes = roomFor(path, entry, most);
    let at = 0;
    while (at < bytes.length) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return within(path, bytes, at, most);
  } catch (thrown) {
    throw explainKind(thrown, path);
  } finally {
    await file?.close();
  }
}

/** The same at once, for a file of a few lines. */
export function readBytesNow(path: string, most: number): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, FLAGS);
    const bytes = roomFor(path, fstatSync(file), most);
    let at = 0;
    for (let read = -1; read !== 0 && at < bytes.length; at += read) {
      read = readSync(file, bytes, at, bytes.length - at, at);
    }
    return within(path, bytes, at, most);
  } catch (thrown) {
    throw explainKind(thrown, path);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

type Entry = { readonly size: number; isFile(): boolean; isDirectory(): boolean };

function roomFor(path: string, entry: Entry, most: number): Buffer {
  if (!entry.isFile() && !entry.isDirectory()) throw noFile(path);
  if (entry.size > most && entry.isFile()) throw tooLarge(path, entry.size, most);
  return Buffer.alloc(Math.min(entry.size, most) + 1);
}

function within(path: string, bytes: Buffer, read: number, most: number): Buffer {
  if (read > most) throw tooLarge(path, read, most);
  return bytes.subarray(0, read);
}

/** With O_NOFOLLOW a link is ELOOP (EMLINK on BSD); a socket is ENXIO. */
const explainKind = (thrown: unknown, path: string): unknown =>
  ['ELOOP', 'EMLINK', 'ENXIO'].includes(codeOf(thrown)) ? noFile(path) : thrown;

const noFile = (path: string): DialecticError =>
  new DialecticError('file_not_text', `${path} is a link or a device.`);

const tooLarge = (path: string, size: number, most: number): DialecticError =>
  new DialecticError('file_too_large', `${path} has ${size} bytes; ${most} may be.`);
