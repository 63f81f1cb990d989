import { hash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { DialecticError } from '../errors/errors.ts';
import { readRegularFileSync } from '../platform/read-regular-file.ts';

// A data directory may come from somebody else, or stand where others can write. What it says of a
// socket is used only where nobody else can have made that socket, and of what it names nothing is
// deleted but a socket and an empty folder of this directory's own.

/** Longer paths do not fit into the address of a Unix socket: 104 bytes on macOS, 108 on Linux. */
const LONGEST_PATH = 100;
/** Only its owner can enter it, whatever the mode of the data directory around it. */
const FOLDER = 'socket';
const NAME_FILE = 'address';
const SOCKET = 'api';

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
  const folder = folderOf(directory);
  const earlier = lookAt(folder);
  if (earlier?.isDirectory() && isOwn(earlier)) chmodSync(folder, 0o700);
  removeAddress(directory);
  if (!isOwnFolder(lookAt(folder))) mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o700); // mkdir takes the umask away from its mode
  const near = join(folder, SOCKET);
  if (!elsewhere && platform !== 'win32' && Buffer.byteLength(near) <= LONGEST_PATH) return near;
  const address = platform === 'win32' ? namePipe() : shortPath(directory);
  writeFileSync(join(folder, NAME_FILE), address, { mode: 0o600, flag: 'wx' });
  return address;
}

/**
 * Where the holder of a data directory answers, if it does. Refuses what is not the user's own: another
 * user, or another program, would get the requests with their briefs.
 */
export function findAddress(directory: string): string {
  const address = readAddress(directory);
  if (isPipe(address)) return address;
  for (const path of [dirname(address), address]) {
    const entry = lookAt(path);
    if (entry === null) break; // no holder, or one that only begins
    const isKind = path === address ? entry.isSocket() : isOwnFolder(entry);
    if (!isKind || !isOwn(entry)) throw notOwn(directory, path);
  }
  return address;
}

/** Takes the address away, that of a dead holder included. What others put there stays. */
export function removeAddress(directory: string): void {
  const folder = folderOf(directory);
  if (!isOwnFolder(lookAt(folder))) return;
  const address = nameIn(directory);
  if (address && isShortPath(directory, address)) removeSocket(address);
  removeSocket(join(folder, SOCKET), join(folder, NAME_FILE));
}

/** Removes a socket of the user, what names it, and their folder once it is empty. */
function removeSocket(address: string, name?: string): void {
  const folder = dirname(address);
  if (!isOwnFolder(lookAt(folder))) return;
  const entry = lookAt(address);
  try {
    if (name !== undefined) rmSync(name, { force: true });
    if (entry?.isSocket() && isOwn(entry)) unlinkSync(address);
    rmdirSync(folder);
  } catch {
    // Something of others is in it, or another process was faster.
  }
}

/** The address that the directory names, where it is one that this program could have made for it. */
function readAddress(directory: string): string {
  const named = nameIn(directory);
  if (named === undefined) return join(folderOf(directory), SOCKET);
  if (named !== null && (isPipe(named) || isShortPath(directory, named))) return named;
  throw notOwn(directory, join(folderOf(directory), NAME_FILE));
}

/**
 * What the file names; undefined where the socket stands in its usual place, without one, and null
 * where it is no file that this program could have written.
 */
function nameIn(directory: string): string | undefined | null {
  try {
    const file = join(folderOf(directory), NAME_FILE);
    return readRegularFileSync(file, { atMostBytes: 4 * LONGEST_PATH, noLink: true }).toString();
  } catch (thrown) {
    return thrown instanceof DialecticError ? null : undefined;
  }
}

/** Nobody can guess the name, and it stands in a folder of the owner's alone. */
const namePipe = (): string => `\\\\.\\pipe\\dialectic-${randomBytes(16).toString('hex')}`;
const isPipe = (address: string): boolean => /^\\\\\.\\pipe\\dialectic-[0-9a-f]{32}$/.test(address);

/** Names the directory: another one cannot name this socket as its own. */
const prefixFor = (directory: string): string =>
  `dialectic-socket-${hash('sha256', realpathSync(directory), 'hex').slice(0, 12)}-`;

/** A folder in a place with a short path; mkdtemp lets only the owner in. */
function shortPath(directory: string): string {
  const prefix = prefixFor(directory);
  const usual = join(mkdtempSync(join(tmpdir(), prefix)), SOCKET);
  if (Buffer.byteLength(usual) <= LONGEST_PATH) return usual;
  rmdirSync(dirname(usual));
  return join(mkdtempSync(`/tmp/${prefix}`), SOCKET);
}

/** Whether a path is one of `shortPath` for this directory, whole and without a way around. */
function isShortPath(directory: string, address: string): boolean {
  const folder = basename(dirname(address));
  const prefix = prefixFor(directory);
  return (
    resolve(address) === address &&
    basename(address) === SOCKET &&
    folder.startsWith(prefix) &&
    /^[A-Za-z0-9]{6}$/.test(folder.slice(prefix.length))
  );
}

/** What stands at a path itself; null where nothing does. */
function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // below a file, for example
  }
}

/** Windows knows neither users by number nor these bits. */
const isOwn = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();

/** A folder of this user that others cannot enter. */
const isOwnFolder = (entry: Stats | null): entry is Stats =>
  entry !== null &&
  entry.isDirectory() &&
  isOwn(entry) &&
  (process.platform === 'win32' || (entry.mode & 0o077) === 0);

const notOwn = (directory: string, path: string): DialecticError =>
  new DialecticError(
    'data_directory_unusable',
    `${path} is not what a process of yours made: nothing is sent there.`,
    {
      action: 'End the process that holds the data directory, and take the file away.',
      details: { directory, path },
    },
  );
