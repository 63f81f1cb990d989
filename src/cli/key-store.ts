import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import { writePrivateFile } from '../platform/folders.ts';
import { readRegularFileSync } from '../platform/read-regular-file.ts';
import { userFolder } from './trusted-files.ts';

const MOST_BYTES = 1_000_000;

/** Where the keys lie that `dialectic keys set` has stored. */
export const keyStorePath = (): string => join(userFolder(), 'keys.json');

/** The stored keys by provider; none where there is no file. */
export function readStoredKeys(): Map<string, string> {
  const path = keyStorePath();
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (!entry) return new Map();
  const isOwn = process.getuid === undefined || entry.uid === process.getuid();
  // Windows has no such bits: there the folder of the account protects the file.
  const isClosed = process.platform === 'win32' || (entry.mode & 0o077) === 0;
  if (!entry.isFile() || !isOwn || !isClosed) throw exposed(path);
  return parseKeys(path, readRegularFileSync(path, { atMostBytes: MOST_BYTES }).toString('utf8'));
}

/** Stores the key of a provider in place of an older one. */
export const storeKey = (provider: string, key: string): Promise<void> =>
  writeKeys(readStoredKeys().set(provider, key));

/** Returns whether there was a key to remove. */
export async function removeKey(provider: string): Promise<boolean> {
  const keys = readStoredKeys();
  if (!keys.delete(provider)) return false;
  await writeKeys(keys);
  return true;
}

const writeKeys = (keys: ReadonlyMap<string, string>): Promise<void> =>
  writePrivateFile(keyStorePath(), `${JSON.stringify(Object.fromEntries(keys), null, 1)}\n`);

/** The parser's own message would repeat a part of the file. */
function parseKeys(path: string, text: string): Map<string, string> {
  try {
    const keys: unknown = JSON.parse(text);
    const entries = typeof keys === 'object' && keys !== null ? Object.entries(keys) : null;
    if (entries?.every((one): one is [string, string] => typeof one[1] === 'string')) {
      return new Map(entries);
    }
  } catch {
    // Told below, without the text.
  }
  throw new DialecticError(
    'usage_invalid',
    `${path} is no list of keys: remove it, then store them with: dialectic keys set PROVIDER`,
  );
}

const exposed = (path: string): DialecticError =>
  new DialecticError(
    'key_store_exposed',
    `${path} is not a file of yours that only you can read. Close it with: chmod 600 ${path}`,
    { details: { path } },
  );
