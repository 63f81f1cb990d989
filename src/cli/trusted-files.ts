import { hash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { writeTextFile } from '../platform/folders.ts';
import { readRegularFileSync } from '../platform/read-regular-file.ts';

/** A file as it was read: its real path and its text. */
export type FoundFile = { readonly path: string; readonly text: string };

/** Where the user's own configuration lies, and the list of the files that they trust. */
export function userFolder(): string {
  const given = process.env['XDG_CONFIG_HOME'];
  const configurations = given && isAbsolute(given) ? given : join(homedir(), '.config');
  return join(configurations, 'dialectic');
}

/** Whether the user trusted a file of this path with this very content. */
export function isTrusted({ path, text }: FoundFile): boolean {
  return readTrusted().get(path) === hashOf(text);
}

/** Whether the user trusted a file of this path, with whatever content. */
export const wasTrusted = (path: string): boolean => readTrusted().has(path);

export const trust = ({ path, text }: FoundFile): Promise<void> =>
  writeTrusted(readTrusted().set(path, hashOf(text)));

/** Returns whether it was trusted before. */
export async function untrust(path: string): Promise<boolean> {
  const trusted = readTrusted();
  if (!trusted.delete(path)) return false;
  await writeTrusted(trusted);
  return true;
}

const hashOf = (text: string): string => hash('sha256', text, 'hex');
const listPath = (): string => join(userFolder(), 'trusted.json');

const MOST_BYTES = 10_000_000;
const readList = (): string =>
  readRegularFileSync(listPath(), { atMostBytes: MOST_BYTES }).toString('utf8');

/** A list that is missing or damaged trusts nothing. */
function readTrusted(): Map<string, string> {
  try {
    return new Map(Object.entries(JSON.parse(readList()) as object));
  } catch {
    return new Map();
  }
}

function writeTrusted(trusted: ReadonlyMap<string, string>): Promise<void> {
  mkdirSync(userFolder(), { recursive: true, mode: 0o700 });
  return writeTextFile(listPath(), `${JSON.stringify(Object.fromEntries(trusted), null, 1)}\n`);
}
