import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { syncDirectory } from '../db/data-directory.ts';
import { codeOf, DialecticError } from '../errors/errors.ts';

/** The length of a record and the checksum of its bytes, before them. */
const HEAD = 8;
const LONGEST = 1 << 28;
const PIECE = 1 << 22;

const sync = promisify(fdatasync);

/** As `a+`; a link, which could lead to a file of the user, is not followed, and a pipe not waited for. */
const FLAGS =
  constants.O_RDWR |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

/**
 * Records one behind the other in a file, as a write-ahead log has them: each with its length and
 * checksum, so that one that was cut off by a crash is found and taken away. Only who holds the lock of
 * the folder may read what is new, stage and flush.
 */
export class SourceLog {
  readonly path: string;
  readonly #file: number;
  /** What this process has read or staged, up to this byte. */
  #end = 0;
  /** The records that are to be written, as they will stand in the file from `#flushed` on. */
  #staged = Buffer.allocUnsafe(1 << 16);
  #flushed = 0;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.path = join(folder, 'sources.log');
    this.#file = openFile(this.path);
    // The name of a new file is on the disk only once its folder is.
    if (fstatSync(this.#file).size === 0) {
      syncDirectory(folder);
      syncDirectory(dirname(resolve(folder)));
    }
  }

  /** Gives each record that was written since the last time, with its place; cuts off a torn end. */
  readNew(take: (bytes: Buffer, offset: number) => void): void {
    const { size } = fstatSync(this.#file);
    while (this.#end < size) {
      const piece = this.#read(this.#end, Math.min(PIECE, size - this.#end));
      const read = takeRecords(piece, this.#end, take);
      if (read === 0 && !this.#readLong(piece, size, take)) break;
      this.#end += read;
    }
    this.#flushed = this.#end;
  }

  /** A record that is longer than a piece, or the torn end of the file. */
  #readLong(piece: Buffer, size: number, take: (bytes: Buffer, offset: number) => void): boolean {
    const left = size - this.#end;
    const length = piece.length < HEAD ? left : HEAD + piece.readUInt32LE(0);
    if (length <= left && length <= LONGEST) {
      const read = takeRecords(this.#read(this.#end, length), this.#end, take);
      this.#end += read;
      if (read > 0) return true;
      if (length < left && !this.#isBlank(size)) throw damaged(this.path, this.#end);
    }
    // A record that was cut off has a length that it could have had; a file of another program may not.
    if (length > HEAD + LONGEST) throw noLog(this.path);
    ftruncateSync(this.#file, this.#end);
    return false;
  }

  /** A file system may lengthen a file before it has written the bytes. */
  #isBlank(size: number): boolean {
    for (let at = this.#end; at < size; at += PIECE) {
      if (this.#read(at, Math.min(PIECE, size - at)).some((byte) => byte !== 0)) return false;
    }
    return true;
  }

  /** Puts a record behind the others, yet only in memory; returns its place. */
  stage(text: string): number {
    if (text.length * 3 > LONGEST) throw tooLong(text.length);
    const offset = this.#end;
    const at = offset - this.#flushed;
    this.#makeRoom(at + HEAD + text.length * 3);
    const length = this.#staged.write(text, at + HEAD);
    const bytes = this.#staged.subarray(at + HEAD, at + HEAD + length);
    this.#staged.writeUInt32LE(length, at);
    this.#staged.writeUInt32LE(crc32(bytes), at + 4);
    this.#end += HEAD + length;
    return offset;
  }

  /** A letter takes three bytes at most. */
  #makeRoom(length: number): void {
    if (length <= this.#staged.length) return;
    const larger = Buffer.allocUnsafe(length * 2);
    this.#staged.copy(larger);
    this.#staged = larger;
  }

  /** Writes what is staged and waits for the disk. */
  async flush(): Promise<void> {
    let left = this.#staged.subarray(0, this.#end - this.#flushed);
    while (left.length > 0) left = left.subarray(writeSync(this.#file, left));
    await sync(this.#file);
    this.#flushed = this.#end;
  }

  /** The record at a place; the next change may use its bytes again. */
  readAt(offset: number): Buffer {
    if (offset >= this.#flushed) {
      const at = offset - this.#flushed;
      return this.#staged.subarray(at + HEAD, at + HEAD + this.#staged.readUInt32LE(at));
    }
    const first = this.#read(offset, 1024);
    const length = first.readUInt32LE(0);
    return length + HEAD <= first.length
      ? first.subarray(HEAD, HEAD + length)
      : this.#read(offset + HEAD, length);
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const more = readSync(this.#file, bytes, read, length - read, offset + read);
      if (more === 0) break;
      read += more;
    }
    return bytes.subarray(0, read);
  }
}

function openFile(path: string): number {
  let file: number | undefined;
  try {
    file = openSync(path, FLAGS, 0o666);
    if (fstatSync(file).isFile()) return file;
  } catch (thrown) {
    if (codeOf(thrown) !== 'ELOOP' && codeOf(thrown) !== 'ENXIO') throw thrown;
  }
  if (file !== undefined) closeSync(file);
  throw noLog(path);
}

/** Gives the whole records of a piece and returns how many bytes they have; stops at a bad one. */
function takeRecords(
  piece: Buffer,
  offset: number,
  take: (bytes: Buffer, offset: number) => void,
): number {
  let at = 0;
  while (at + HEAD <= piece.length) {
    const length = piece.readUInt32LE(at);
    const end = at + HEAD + length;
    if (length === 0 || end > piece.length) break;
    const bytes = piece.subarray(at + HEAD, end);
    if (crc32(bytes) !== piece.readUInt32LE(at + 4)) break;
    take(bytes, offset + at);
    at = end;
  }
  return at;
}

const tooLong = (length: number): DialecticError =>
  new DialecticError(
    'file_too_large',
    `A source has ${length} characters with its excerpts; ${Math.floor(LONGEST / 3)} is the most.`,
  );

const noLog = (path: string): DialecticError =>
  new DialecticError('sources_damaged', `${path} is not a log of sources of this program.`, {
    action: 'Nothing was changed. Name another folder, or take the file away.',
    details: { path },
  });

const damaged = (path: string, at: number): DialecticError =>
  new DialecticError(
    'sources_damaged',
    `${path} is damaged at byte ${at}, and records stand behind that. Restore it from a copy.`,
    { details: { path, at } },
  );
