import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Longer paths do not fit into the address of a Unix socket: 104 bytes on macOS, 108 on Linux. */
const LONGEST_PATH = 100;
/** Only its owner can enter it, whatever the mode of the data directory around it. */
const FOLDER = 'socket';
const NAME_FILE = 'address';

type AddressOptions = { readonly elsewhere?: boolean; readonly platform?: NodeJS.Platform };

const folderOf = (directory: string): string => join(directory, FOLDER);

/**
 * Makes the address on which the holder of a data directory answers, in place of what an earlier
 * holder left. Must only be called while the directory's lock is held. `elsewhere` leaves the file
 * system of the directory, since some network file systems have no sockets.
 */
export function prepareAddress(
  directory: string,
  { elsewhere = false, platform = process.platform }: AddressOptions = {},
): string {
  removeAddress(directory);
  const folder = folderOf(directory);
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o700); // mkdir takes the umask away from its mode
  const near = join(folder, 'api');
  if (!elsewhere && platform !== 'win32' && Buffer.byteLength(near) <= LONGEST_PATH) return near;
  const address = platform === 'win32' ? namePipe() : shortPath();
  writeFileSync(join(folder, NAME_FILE), address, { mode: 0o600 });
  return address;
}

/** Where the holder of a data directory answers, if it does. */
export function findAddress(directory: string): string {
  try {
    return readFileSync(join(folderOf(directory), NAME_FILE), 'utf8');
  } catch {
    return join(folderOf(directory), 'api'); // the usual place has no file that names it
  }
}

/** Takes the address away, that of a dead holder included. */
export function removeAddress(directory: string): void {
  const address = findAddress(directory);
  const isElsewhere = dirname(address) !== folderOf(directory) && isOfShortPath(address);
  if (isElsewhere) rmSync(dirname(address), { recursive: true, force: true });
  rmSync(folderOf(directory), { recursive: true, force: true });
}

/** Nobody can guess the name, and it stands in a folder of the owner's alone. */
const namePipe = (): string => `\\\\.\\pipe\\dialectic-${randomBytes(16).toString('hex')}`;

const SHORT_PREFIX = 'dialectic-socket-';

/** A folder in a place with a short path; mkdtemp lets only the owner in. */
function shortPath(): string {
  const usual = join(mkdtempSync(join(tmpdir(), SHORT_PREFIX)), 'api');
  if (Buffer.byteLength(usual) <= LONGEST_PATH) return usual;
  rmSync(dirname(usual), { recursive: true });
  return join(mkdtempSync(`/tmp/${SHORT_PREFIX}`), 'api');
}

/** Only a folder of our own making may be deleted. */
const isOfShortPath = (address: string): boolean => address.includes(`/${SHORT_PREFIX}`);
