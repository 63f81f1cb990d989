import { existsSync } from 'node:fs';
import { z } from 'zod';
import { DialecticError, messageOf } from '../errors/errors.ts';
import { readTextFile, writeTextFile } from '../platform/folders.ts';
import type { Spending } from './spending.ts';

const note = z.strictObject({
  models: z.array(z.string()),
  calls: z.number().int().nonnegative(),
  inputTokens: z.number().nonnegative(),
  outputTokens: z.number().nonnegative(),
  costUsd: z.number().nonnegative().nullable(),
});

/** Who wrote a folder and what that took; kept beside it, so that no judge reads it. */
export type CostNote = Spending & { readonly models: readonly string[] };

const pathOf = (folder: string): string => `${folder.replace(/(?<![\\/])[\\/]+$/, '')}.cost.json`;

export const writeCostNote = (folder: string, facts: CostNote): Promise<void> =>
  writeTextFile(pathOf(folder), `${JSON.stringify(facts, null, 2)}\n`);

/** What an earlier evaluation noted of a folder; null where none did. */
export async function readCostNote(folder: string): Promise<CostNote | null> {
  const path = pathOf(folder);
  if (!existsSync(path)) return null;
  try {
    return note.parse(JSON.parse(await readTextFile(path)));
  } catch (cause) {
    if (cause instanceof DialecticError) throw cause;
    const message = `${path} is not what \`dialectic eval\` wrote there: ${messageOf(cause)}`;
    throw new DialecticError('usage_invalid', message, { cause });
  }
}
