import { relative, resolve, sep } from 'node:path';
import { requireFolder } from '../documents/owned-folder.ts';
import { DialecticError } from '../errors/errors.ts';
import { agree, type Consent } from './confirm.ts';
import { tell } from './output.ts';

type Wanted = {
  /** The folder that the person named, if any. */
  readonly out: string | undefined;
  /** What the run is called: its brief's file, or its title. */
  readonly name: string;
  /** The project that the run belongs to; null = one that is yet to be made. */
  readonly owner: string | null;
  readonly consent: Consent;
};

/**
 * The folder that a new run is written to, as an absolute path: the one that was named, else
 * `NAME-plan` here. Beside an earlier run's default folder the next number is taken. Beside files of
 * people it is offered: nothing of theirs is overwritten, nor mixed with ours.
 */
export async function choosePlanFolder({ out, name, owner, consent }: Wanted): Promise<string> {
  const wanted = resolve(out ?? `${toFolderName(name)}-plan`);
  const taken = await findOccupant(wanted, owner);
  if (taken === null) return wanted;
  const free = await findFree(wanted, owner);
  const { why, holds } = taken.details;
  const told = `${showPath(wanted)} ${String(why)}`;
  if (out !== undefined || holds === 'files') {
    const answer = await agree(`${told}. Write to ${showPath(free)} instead?`, consent);
    if (answer !== 'agreed') throw taken;
  }
  tell(`${told}: this run goes to ${showPath(free)}`);
  return free;
}

/** The first of `folder-2`, `folder-3` and so on that can be written. */
async function findFree(folder: string, owner: string | null): Promise<string> {
  for (let number = 2; ; number += 1) {
    const next = `${folder}-${number}`;
    if ((await findOccupant(next, owner)) === null) return next;
  }
}

/** Why a folder cannot be taken; null where it can. What cannot be written at all is thrown. */
async function findOccupant(folder: string, owner: string | null): Promise<DialecticError | null> {
  try {
    await requireFolder(folder, owner);
    return null;
  } catch (thrown) {
    if (thrown instanceof DialecticError && thrown.details.holds !== undefined) return thrown;
    throw thrown;
  }
}

const LONGEST_NAME = 60;

/** A name as part of a folder's: letters and digits of any script, and dashes between words. */
export function toFolderName(name: string): string {
  const short = name.normalize('NFC').trim().slice(0, LONGEST_NAME).toWellFormed();
  const words = short.replaceAll(/[^\p{L}\p{M}\p{N}._]+/gu, '-');
  return words.replaceAll(/^[-.]+|[-.]+$/g, '') || 'brief';
}

/** A path as a person here would type it: below the working directory from there, else whole. */
export function showPath(path: string): string {
  const short = relative('.', path);
  if (short === '') return '.';
  return short === '..' || short.startsWith(`..${sep}`) || resolve(short) === short
    ? path
    : `.${sep}${short}`;
}
