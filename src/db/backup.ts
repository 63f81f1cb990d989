import { constants, existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { now } from '../platform/clock.ts';
import { DialecticError } from '../platform/errors.ts';

/** A whole copy of the database's files, taken while nothing was written. */
export type Backup = { readonly path: string; readonly createdAt: string; readonly bytes: number };

const KEEP = 2;
const backupsFolder = (directory: string): string => join(directory, 'backups');

/** Copies `pgdata`; the copy gets its final name only when it is whole. The oldest ones go. */
export async function writeBackup(
  directory: string,
  freeBytes: number,
): Promise<string | undefined> {
  const source = join(directory, 'pgdata');
  const bytes = await folderBytes(source);
  if (freeBytes < bytes * 2) return undefined; // a backup must not be what fills the disk
  const createdAt = now().toISOString();
  const name = createdAt.replace(/[:.]/g, '-');
  const partial = join(backupsFolder(directory), `${name}.partial`);
  await mkdir(partial, { recursive: true });
  await cp(source, join(partial, 'pgdata'), { recursive: true, mode: constants.COPYFILE_FICLONE });
  await writeFile(join(partial, 'backup.json'), JSON.stringify({ createdAt, bytes }));
  const path = join(backupsFolder(directory), name);
  await rename(partial, path);
  await removeOld(directory);
  return path;
}

async function removeOld(directory: string): Promise<void> {
  const keep = new Set((await listBackups(directory)).slice(0, KEEP).map((backup) => backup.path));
  for (const name of await readdir(backupsFolder(directory))) {
    const path = join(backupsFolder(directory), name);
    if (!keep.has(path)) await rm(path, { recursive: true, force: true });
  }
}

/** The whole backups, newest first. */
export async function listBackups(directory: string): Promise<Backup[]> {
  if (!existsSync(backupsFolder(directory))) return [];
  const backups: Backup[] = [];
  for (const name of await readdir(backupsFolder(directory))) {
    const path = join(backupsFolder(directory), name);
    if (name.endsWith('.partial') || !existsSync(join(path, 'backup.json'))) continue;
    const manifest = JSON.parse(await readFile(join(path, 'backup.json'), 'utf8'));
    backups.push({ path, createdAt: manifest.createdAt, bytes: manifest.bytes });
  }
  return backups.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
}

export async function newestBackup(directory: string): Promise<Backup | undefined> {
  return (await listBackups(directory))[0];
}

/** Puts a backup in the database's place and keeps what was there under a name that it returns. */
export async function restoreBackup(directory: string, backup: Backup | undefined) {
  if (!backup) {
    throw new DialecticError('backup_missing', `${directory} holds no whole backup.`, {
      details: { directory },
    });
  }
  const current = join(directory, 'pgdata');
  const incoming = join(directory, 'pgdata.restoring');
  const kept = join(directory, `pgdata.damaged-${now().toISOString().replace(/[:.]/g, '-')}`);
  await rm(incoming, { recursive: true, force: true });
  await cp(join(backup.path, 'pgdata'), incoming, { recursive: true });
  if (existsSync(current)) await rename(current, kept);
  await rename(incoming, current);
  return { kept };
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
