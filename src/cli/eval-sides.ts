import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunOptions } from '../api/run-options.ts';
import { locateStore } from '../db/open.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import type { EvalDeps } from '../eval/ask-model.ts';
import { type CostNote, readCostNote, writeCostNote } from '../eval/cost-note.ts';
import type { PreparedSide } from '../eval/evaluation.ts';
import { readDebateFolder, readPlainFolder } from '../eval/read-folder.ts';
import { writeSingle } from '../eval/write-single.ts';
import { readTextFile, writeTextFolder } from '../platform/folders.ts';
import type { RunResult } from '../session/summary.ts';
import type { BudgetOptions } from './budget.ts';
import { tell } from './output.ts';
import type { PreflightOptions } from './preflight.ts';
import { carryOut, requireCompleted } from './run.ts';
import { withDialectic } from './store.ts';

/** Debates into an empty folder, as `dialectic run` would; one that rests early is an error. */
export async function makeDebate(
  prepared: RunOptions,
  options: BudgetOptions &
    PreflightOptions & { readonly concurrency: string; readonly data?: string },
  folder: string,
): Promise<PreparedSide> {
  const result = await debate(prepared, { ...options, out: folder });
  await writeCostNote(folder, toNote(prepared.models, result));
  tell(`The debate's folder is ${folder}; --debate-folder takes it without a new debate.`);
  return takeDebate(folder, options.data);
}

async function debate(
  prepared: RunOptions,
  options: Parameters<typeof carryOut>[1] & { readonly out: string },
): Promise<RunResult> {
  try {
    const result = await carryOut(prepared, options);
    requireCompleted(result);
    return result;
  } catch (thrown) {
    if (['run_stopped', 'run_incomplete'].includes(toDialecticError(thrown).code)) {
      const { out } = options;
      tell(`Let the session end with --out ${out}, then evaluate with --debate-folder ${out}.`);
    }
    throw thrown;
  }
}

const toNote = (models: readonly string[], { calls, usage }: RunResult): CostNote => ({
  models,
  calls,
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  costUsd: usage.costUsd,
});

/** Takes a debate's folder as it is; its cost stands beside it, or in the store that made it. */
export async function takeDebate(folder: string, data?: string): Promise<PreparedSide> {
  const reading = await readDebateFolder(folder);
  const note = (await readCostNote(folder)) ?? (await findSessionCost(folder, data));
  return { folder, reading, ...splitNote(note) };
}

type Settings = {
  readonly session?: { readonly id?: string };
  readonly models?: readonly { readonly model: string }[];
};

async function findSessionCost(folder: string, data: string | undefined): Promise<CostNote | null> {
  const path = join(folder, 'project_settings.json');
  const location = locateStore(process.env, data);
  // To look a cost up is no reason to make a store.
  const isThere = 'databaseUrl' in location || existsSync(location.dataDirectory);
  if (!isThere || !existsSync(path)) return null;
  const { session, models = [] } = JSON.parse(await readTextFile(path)) as Settings;
  if (!session?.id) return null;
  const { id } = session;
  return withDialectic(data, async (dialectic) => {
    const sessions = await dialectic.list({ all: true });
    if (!sessions.some((one) => one.id === id)) return null;
    const debaters = models.map(({ model }) => model);
    return toNote(debaters, await dialectic.result(id));
  });
}

/** Asks one model for everything at once and keeps its files. */
export async function makeSingle(
  deps: EvalDeps,
  request: { readonly model: string; readonly brief: string; readonly words: number },
  folder: string,
): Promise<PreparedSide> {
  const { model, words } = request;
  tell(`One prompt: ${model} is asked for five files of about ${words} words in all.`);
  const { files, spent } = await writeSingle(deps, request);
  await writeTextFolder(folder, files);
  await writeCostNote(folder, { models: [model], ...spent });
  return takeSingle(folder);
}

export async function takeSingle(folder: string): Promise<PreparedSide> {
  const reading = await readPlainFolder(folder);
  return { folder, reading, ...splitNote(await readCostNote(folder)) };
}

function splitNote(note: CostNote | null): Pick<PreparedSide, 'models' | 'spent'> {
  if (note === null) return { models: [], spent: null };
  const { models, ...spent } = note;
  return { models, spent };
}

/** Refuses a folder in which files of an earlier debate would pass for those of this one. */
export async function requireEmptyFolder(folder: string): Promise<void> {
  if (!existsSync(folder) || (await readdir(folder)).length === 0) return;
  throw new DialecticError('folder_occupied', `${folder} is not empty.`);
}
