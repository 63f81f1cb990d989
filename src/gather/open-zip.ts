import { crc32, inflateRawSync } from 'node:zlib';
import { countNoun } from '../text/count-noun.ts';
import { Unreadable } from './extracted.ts';

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const MOST_ENTRIES = 10_000;
/** The comment at the end of an archive has so many bytes at most. */
const LONGEST_COMMENT = 0xffff;

/**
 * The entries of a ZIP archive that are wanted, unpacked to `most` bytes at most in all. The limit holds
 * while a part is inflated, whatever sizes the archive claims for itself.
 */
export function openZip(
  bytes: Uint8Array,
  isWanted: (name: string) => boolean,
  most: number,
): Map<string, Buffer> {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = new Map<string, Buffer>();
  let left = most;
  try {
    for (const entry of entriesOf(zip)) {
      if (!isWanted(entry.name) || found.has(entry.name)) continue;
      const part = unpack(zip, entry, left);
      left -= part.length;
      found.set(entry.name, part);
    }
  } catch (thrown) {
    if (thrown instanceof Unreadable) throw thrown;
    if (
      thrown instanceof RangeError &&
      'code' in thrown &&
      thrown.code === 'ERR_BUFFER_TOO_LARGE'
    ) {
      throw new Unreadable(
        `unpacks to more than ${countNoun(most, 'byte')}, as a decompression bomb does`,
      );
    }
    throw new Unreadable('is a broken ZIP archive; open it and save it anew', { cause: thrown });
  }
  return found;
}

type Entry = {
  readonly name: string;
  readonly method: number;
  readonly size: number;
  readonly at: number;
};

function* entriesOf(zip: Buffer): Generator<Entry> {
  const end = findEnd(zip);
  const count = zip.readUInt16LE(end + 10);
  if (count > MOST_ENTRIES) throw new Unreadable(`is an archive of ${countNoun(count, 'file')}`);
  let at = zip.readUInt32LE(end + 16);
  for (let number = 0; number < count; number++) {
    if (zip.readUInt32LE(at) !== CENTRAL) throw new Error(`No entry at byte ${at}.`);
    if ((zip.readUInt16LE(at + 8) & 1) === 1) throw new Unreadable('is protected with a password');
    const nameLength = zip.readUInt16LE(at + 28);
    yield {
      name: zip.toString('utf8', at + 46, at + 46 + nameLength),
      method: zip.readUInt16LE(at + 10),
      size: zip.readUInt32LE(at + 20),
      at: zip.readUInt32LE(at + 42),
    };
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
}

function findEnd(zip: Buffer): number {
  const first = Math.max(0, zip.length - 22 - LONGEST_COMMENT);
  for (let at = zip.length - 22; at >= first; at--) {
    if (zip.readUInt32LE(at) === END) return at;
  }
  throw new Error('The archive has no directory.');
}

function unpack(zip: Buffer, { method, size, at }: Entry, most: number): Buffer {
  if (zip.readUInt32LE(at) !== LOCAL) throw new Error(`No file at byte ${at}.`);
  const start = at + 30 + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
  const packed = zip.subarray(start, start + size);
  if (method === 0 && packed.length <= most) return packed;
  if (method !== 8 && method !== 0) throw new Error(`Method ${method} is not known.`);
  return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) });
}

/** A ZIP archive of some files, none of them compressed. */
export function packZip(files: ReadonlyMap<string, Buffer>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const title = Buffer.from(name);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(0x0800, 2);
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(bytes.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(title.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    parts.push(signed(LOCAL, about), title, bytes);
    directory.push(signed(CENTRAL, Buffer.from([20, 0]), about, tail), title);
    at += 30 + title.length + bytes.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.size, 4);
  end.writeUInt16LE(files.size, 6);
  end.writeUInt32LE(listing.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, listing, signed(END, end)]);
}

function signed(signature: number, ...parts: Buffer[]): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(signature);
  return Buffer.concat([head, ...parts]);
}
