import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hashOf } from '../documents/blobs.ts';
import { DialecticError } from '../errors/errors.ts';
import { type CostNote, readCostNote } from './cost-note.ts';
import { readDebateFolder, readPlainFolder } from './read-folder.ts';
import type { Reading } from './reading.ts';
import type { Spending } from './spending.ts';

/** What a debate is compared with. */
export const MADE_RIVALS = ['one-prompt', 'three-passes', 'best-of'] as const;
export type MadeRival = (typeof MADE_RIVALS)[number];
export type RivalName = MadeRival | 'given';

/** A folder that answers a brief, before it is judged. */
export type PreparedText = {
  readonly folder: string;
  readonly models: readonly string[];
  /** Null where the folder was given and nothing says what it took. */
  readonly spent: Spending | null;
  /** The words that its writer was asked for; null where the folder was given. */
  readonly wordsAsked: number | null;
  /** How many drafts the best was chosen from; null where there was no choice. */
  readonly drafts: number | null;
  readonly reading: Reading;
};

/** Takes a debate's folder as it is; its cost stands beside it, or is looked up. */
export async function takeDebate(
  folder: string,
  findCost: () => Promise<Origin | null>,
): Promise<PreparedText> {
  const reading = await readDebateFolder(folder);
  const note = await readCostNote(folder);
  return toText(folder, reading, note === null ? await findCost() : originOf(note));
}

/** Takes a folder of Markdown as it is. */
export async function takeFolder(folder: string): Promise<PreparedText> {
  const reading = await readPlainFolder(folder);
  const note = await readCostNote(folder);
  return toText(folder, reading, note && originOf(note));
}

/** Who wrote a text, and what that took where it is known. */
export type Origin = Partial<Pick<PreparedText, 'wordsAsked'>> &
  Pick<PreparedText, 'models' | 'spent'>;

export const originOf = ({ models, wordsAsked, ...spent }: CostNote): Origin => ({
  models,
  wordsAsked: wordsAsked ?? null,
  spent,
});

const toText = (folder: string, reading: Reading, origin: Origin | null): PreparedText => ({
  folder,
  reading,
  models: origin?.models ?? [],
  spent: origin?.spent ?? null,
  wordsAsked: origin?.wordsAsked ?? null,
  drafts: null,
});

/** Tells texts on a brief from any others: what was found in them holds for them alone. */
export const digestOf = (brief: string, readings: readonly Reading[]): string =>
  hashOf(JSON.stringify([brief, readings.map(({ files }) => files)]));

/** Refuses a folder in which files of an earlier text would pass for those of this one. */
export async function requireEmptyFolder(folder: string): Promise<void> {
  if (!existsSync(folder) || (await readdir(folder)).length === 0) return;
  const why = 'is not empty, and no .cost.json beside it says that it is finished; move it away';
  throw new DialecticError('folder_occupied', `${folder} ${why}.`);
}
