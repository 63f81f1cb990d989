import { existsSync } from 'node:fs';
import { z } from 'zod';
import { DialecticError, messageOf } from '../errors/errors.ts';
import { readTextFile, writeTextFile } from '../platform/folders.ts';
import type { Spending } from './spending.ts';

/** Money and calls as the files of an evaluation hold them. */
export const spendingShape = {
  calls: z.number().int().nonnegative(),
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
};

const note = z.strictObject({
  models: z.array(z.string()),
  wordsAsked: z.number().positive().exactOptional(),
  ...spendingShape,
});

/** Who wrote a folder and what that took; kept beside it, so that no judge reads it. */
export type CostNote = Spending & {
  readonly models: readonly string[];
  /** How many words its writer was asked for, where it was. */
  readonly wordsAsked?: number;
};

const pathOf = (folder: string): string => `${folder.replace(/(?<![\\/])[\\/]+$/, '')}.cost.json`;

export const writeCostNote = (folder: string, facts: CostNote): Promise<void> =>
  writeTextFile(pathOf(folder), `${JSON.stringify(facts, null, 2)}\n`);

/** What an earlier evaluation noted of a folder; null where none did. */
export const readCostNote = (folder: string): Promise<CostNote | null> =>
  readKept(pathOf(folder), note);

/** Reads a file that an earlier evaluation wrote; null where there is none. */
export async function readKept<T>(
  path: string,
  shape: z.ZodType<T>,
  limits?: Parameters<typeof readTextFile>[1],
): Promise<T | null> {
  if (!existsSync(path)) return null;
  try {
    return shape.parse(JSON.parse(await readTextFile(path, limits)));
  } catch (cause) {
    if (cause instanceof DialecticError) throw cause;
    const wrong = 'is not what `dialectic eval` wrote there; move it away.';
    const message = `${path} ${wrong} ${messageOf(cause)}`;
    throw new DialecticError('usage_invalid', message, { cause });
  }
}
