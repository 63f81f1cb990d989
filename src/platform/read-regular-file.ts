import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf, DialecticError } from '../errors/errors.ts';
import { countNoun } from '../text/count-noun.ts';

type Limit = {
  readonly atMostBytes: number;
  /** Refuses a link: the folder may come from somebody else, and lead out of itself. */
  readonly noLink?: boolean;
};

/** Without it, opening a FIFO would wait for a writer that may never come. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const LEAST_CHUNK = 65_536;

const flagsFor = (noLink: boolean): number =>
  noLink ? FLAGS | (constants.O_NOFOLLOW ?? 0) : FLAGS;

/**
 * The bytes of a regular file, or of the one that a link leads to. A pipe, a device and a socket are
 * refused by name: they could block for ever, or never end. The file is checked after it was opened,
 * so that it cannot be swapped in between, and it is read to its end whatever size the system claims:
 * files of /proc claim 0, and others grow. Faults of the system are thrown as they are.
 */
export async function readRegularFile(
  path: string,
  { atMostBytes, noLink = false }: Limit,
): Promise<Buffer> {
  const file: FileHandle = await open(path, flagsFor(noLink)).catch((thrown: unknown) => {
    throw openingFault(path, thrown, noLink);
  });
  try {
    const chunks = takeChunks(path, await file.stat(), atMostBytes);
    let step = chunks.next();
    while (!step.done) {
      const { bytesRead } = await file.read(step.value, 0, step.value.length, null);
      step = chunks.next(bytesRead);
    }
    return step.value;
  } finally {
    await file.close();
  }
}

/** The same at once, for what a command needs before it does anything else. */
export function readRegularFileSync(path: string, { atMostBytes, noLink = false }: Limit): Buffer {
  const file = openNow(path, noLink);
  try {
    const chunks = takeChunks(path, fstatSync(file), atMostBytes);
    let step = chunks.next();
    while (!step.done) step = chunks.next(readSync(file, step.value));
    return step.value;
  } finally {
    closeSync(file);
  }
}

function openNow(path: string, noLink: boolean): number {
  try {
    return openSync(path, flagsFor(noLink));
  } catch (thrown) {
    throw openingFault(path, thrown, noLink);
  }
}

/** Yields buffers to be filled, takes how many bytes were read into each, and gives all of them. */
function* takeChunks(
  path: string,
  entry: Stats,
  atMostBytes: number,
): Generator<Buffer, Buffer, number> {
  // Reading a folder fails with the system's own EISDIR.
  if (!entry.isFile() && !entry.isDirectory()) throw notRegular(path);
  if (entry.size > atMostBytes) {
    throw tooLarge(`${path} has ${countNoun(entry.size, 'byte')}`, atMostBytes);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const wanted = Math.max(entry.size - size + 1, LEAST_CHUNK);
    const chunk = Buffer.allocUnsafe(Math.min(wanted, atMostBytes - size + 1));
    const bytesRead = yield chunk;
    if (bytesRead === 0) return Buffer.concat(chunks, size);
    size += bytesRead;
    if (size > atMostBytes) throw tooLarge(`${path} has more`, atMostBytes);
    chunks.push(chunk.subarray(0, bytesRead));
  }
}

/**
 * A socket cannot be opened at all; a device without a driver neither. With O_NOFOLLOW a link fails with
 * ELOOP, on BSD with EMLINK.
 */
function openingFault(path: string, thrown: unknown, noLink: boolean): unknown {
  const code = codeOf(thrown);
  if (code === 'ENXIO') return notRegular(path);
  if (!noLink || (code !== 'ELOOP' && code !== 'EMLINK')) return thrown;
  return new DialecticError('file_not_text', `${path} is a link, and links are not followed here.`);
}

const notRegular = (path: string): DialecticError =>
  new DialecticError(
    'file_not_text',
    `${path} is a pipe, a device or a socket, and no file. Name a file.`,
  );

const tooLarge = (what: string, atMostBytes: number): DialecticError =>
  new DialecticError('file_too_large', `${what}; ${countNoun(atMostBytes, 'byte')} may be.`);
