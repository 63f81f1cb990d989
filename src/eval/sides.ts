import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { DialecticError } from '../errors/errors.ts';
import { writeTextFolder } from '../platform/folders.ts';
import type { EvalDeps } from './ask-model.ts';
import { type CostNote, readCostNote, writeCostNote } from './cost-note.ts';
import type { PreparedSide } from './evaluation.ts';
import { readDebateFolder, readPlainFolder } from './read-folder.ts';
import { type SingleRequest, writeSingle } from './write-single.ts';

/** Takes a debate's folder as it is; its cost stands beside it, or is looked up. */
export async function takeDebate(
  folder: string,
  findCost: () => Promise<CostNote | null>,
): Promise<PreparedSide> {
  const reading = await readDebateFolder(folder);
  return { folder, reading, ...splitNote((await readCostNote(folder)) ?? (await findCost())) };
}

/** Asks one model for everything at once and keeps its files. */
export async function makeSingle(
  deps: EvalDeps,
  request: SingleRequest,
  folder: string,
): Promise<PreparedSide> {
  const { files, spent } = await writeSingle(deps, request);
  await writeTextFolder(folder, files);
  await writeCostNote(folder, { models: [request.model], ...spent });
  return takeSingle(folder);
}

/** Takes a folder of Markdown as it is. */
export async function takeSingle(folder: string): Promise<PreparedSide> {
  const reading = await readPlainFolder(folder);
  return { folder, reading, ...splitNote(await readCostNote(folder)) };
}

function splitNote(note: CostNote | null): Pick<PreparedSide, 'models' | 'spent'> {
  if (note === null) return { models: [], spent: null };
  const { models, ...spent } = note;
  return { models, spent };
}

/** Refuses a folder in which files of an earlier side would pass for those of this one. */
export async function requireEmptyFolder(folder: string): Promise<void> {
  if (!existsSync(folder) || (await readdir(folder)).length === 0) return;
  throw new DialecticError('folder_occupied', `${folder} is not empty.`);
}
