import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { PRIVATE_MODE, syncDirectory } from './data-directory.ts';
import { digestFunctions, digestOf, readSchemaFiles } from './schema-files.ts';

/**
 * An image is a new, migrated and closed database in one file. A first store is unpacked from it:
 * PostgreSQL's initdb and all migrations take ten times as long. It begins with the length of a header;
 * the header lists folders and files, whose bytes follow one after another.
 */
type Header = {
  readonly folders: readonly string[];
  readonly files: readonly ImageFile[];
};

/** The first `used` bytes are in the image; the rest is zeros, as most of PostgreSQL's log of 16 MB. */
type ImageFile = { readonly path: string; readonly bytes: number; readonly used: number };

const FORMAT = 3;
const LENGTH_BYTES = 4;
const FILE_MODE = 0o600;
/** So many files are synced at once; the file system writes them out together. */
const AT_ONCE = 16;

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
const syncFile = promisify(fsync);

/** The package brings its image along; `npm run build` puts it there. */
const PACKAGED = fileURLToPath(new URL('./store-image', import.meta.url));
/** A clone makes its own with the first store and keeps it here. */
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/** Where the image for this schema and this PGlite is, or can be put; undefined where nowhere. */
export function locateImage(): string | undefined {
  if (existsSync(PACKAGED)) return PACKAGED;
  if (!existsSync(MODULES)) return undefined;
  return join(MODULES, '.cache', 'dialectic', `store-${digestSchema()}`);
}

function digestSchema(): string {
  const { migrations, functions } = readSchemaFiles();
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const pglite = readFileSync(join(dirname(entry), '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(pglite) as { version: string };
  const sql = migrations.map((migration) => migration.sql).join('\n');
  return digestOf([FORMAT, version, sql, digestFunctions(functions)].join('\n')).slice(0, 16);
}

/** Writes the files of a closed database as an image; it gets its name only when it is whole. */
export async function packImage(database: string, image: string): Promise<void> {
  const entries = readdirSync(database, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({
    entry,
    path: relative(database, join(entry.parentPath, entry.name)).replaceAll(sep, '/'),
  }));
  const folders = paths.filter(({ entry }) => entry.isDirectory()).map(({ path }) => path);
  const files = paths
    .filter(({ entry }) => entry.isFile())
    .map(({ path }) => {
      const content = readFileSync(join(database, path));
      return { path, bytes: content.length, content: withoutZeros(content) };
    });
  const header: Header = {
    folders: folders.toSorted(), // those above before those below
    files: files.map(({ path, bytes, content }) => ({ path, bytes, used: content.length })),
  };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  const whole = Buffer.concat([length, text, ...files.map(({ content }) => content)]);
  const packed = await compress(whole, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  await mkdir(dirname(image), { recursive: true });
  const partial = `${image}.${process.pid}`;
  await writeFile(partial, Buffer.concat([checksum(packed), packed]));
  await rename(partial, image);
}

/** The bytes up to the last one that is not zero. */
function withoutZeros(content: Buffer): Buffer {
  let used = content.length;
  while (used > 0 && content[used - 1] === 0) used--;
  return content.subarray(0, used);
}

const CHECKSUM_BYTES = 32;
const checksum = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Unpacks an image into a folder that does not exist yet, and syncs every file. */
export async function unpackImage(image: string, folder: string): Promise<void> {
  const bytes = await readFile(image);
  const packed = bytes.subarray(CHECKSUM_BYTES);
  if (!checksum(packed).equals(bytes.subarray(0, CHECKSUM_BYTES)))
    throw new Error(`the image ${image} is not whole`);
  const whole = await decompress(packed);
  const start = LENGTH_BYTES + whole.readUInt32BE();
  const { folders, files } = JSON.parse(whole.toString('utf8', LENGTH_BYTES, start)) as Header;
  const outside = [...folders, ...files.map(({ path }) => path)].find(leadsOut);
  if (outside !== undefined) throw new Error(`the image ${image} names ${outside}`);
  await mkdir(folder, { mode: PRIVATE_MODE });
  for (const path of folders) await mkdir(join(folder, path), { mode: PRIVATE_MODE });
  let at = start;
  const places = files.map((file) => {
    const content = whole.subarray(at, at + file.used);
    at += file.used;
    return { path: join(folder, file.path), bytes: file.bytes, content };
  });
  const writeSome = async (): Promise<void> => {
    for (let next = places.pop(); next; next = places.pop()) await writeSynced(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, writeSome));
  for (const path of [...folders, '']) syncDirectory(join(folder, path));
}

const leadsOut = (path: string): boolean =>
  isAbsolute(path) || path.split(/[\\/]/).some((part) => part === '..' || part === '');

type NewFile = { readonly path: string; readonly bytes: number; readonly content: Buffer };

/** Zeros at the end take no room. Only the sync waits for the disk; the rest takes microseconds. */
async function writeSynced({ path, bytes, content }: NewFile): Promise<void> {
  const file = openSync(path, 'wx', FILE_MODE);
  try {
    writeFileSync(file, content);
    if (content.length < bytes) ftruncateSync(file, bytes);
    await syncFile(file);
  } finally {
    closeSync(file);
  }
}
