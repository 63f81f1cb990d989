import { resolve } from 'node:path';
import { findRecipe } from '../catalogue/recipe-folders.ts';
import type { Signals } from '../transport/messages.ts';
import type { MethodName } from './methods.ts';

type Options = Readonly<Record<string, unknown>>;

/** Arguments as another process can take them, and the signals that stay behind. */
export type CarriedArguments = {
  readonly args: readonly unknown[];
  readonly signals: Signals;
};

/**
 * Prepares the arguments of a call for a process with another current folder: paths become absolute,
 * and the caller's signals are taken out, which the transport carries by messages of their own.
 */
export async function carryArguments(
  method: MethodName,
  given: readonly unknown[],
): Promise<CarriedArguments> {
  const args = given.slice(0, given.findLastIndex((one) => one !== undefined) + 1);
  const isFolder = method === 'export' || method === 'updateFolder';
  if (isFolder && typeof args[1] === 'string') args[1] = resolve(args[1]);
  const signals: Record<string, AbortSignal> = {};
  for (const [at, value] of args.entries()) {
    if (!isOptions(value)) continue;
    const options: Record<string, unknown> = {};
    for (const [name, option] of Object.entries(value)) {
      if (option instanceof AbortSignal) signals[name] = option;
      else options[name] = option;
    }
    args[at] = await absolute(options);
  }
  return { args, signals };
}

/** A recipe that is not shipped is a folder. */
async function absolute(options: Options): Promise<Options> {
  const { out, process, recorded, recipe, briefs, trace } = options;
  return {
    ...options,
    ...(typeof out === 'string' && { out: resolve(out) }),
    ...(typeof process === 'string' && { process: await locateProcess(process) }),
    ...(typeof recorded === 'string' && { recorded: resolve(recorded) }),
    ...(typeof trace === 'string' && { trace: resolve(trace) }),
    ...(Array.isArray(briefs) && { briefs: briefs.map(toAbsoluteFolders) }),
    ...(typeof recipe === 'string' && { recipe: await locateProcess(recipe) }),
  };
}

/** The folders that answer a brief of an evaluation. */
function toAbsoluteFolders(brief: unknown): unknown {
  if (!isOptions(brief)) return brief;
  const { debate, given } = brief;
  return {
    ...brief,
    ...(typeof debate === 'string' && { debate: resolve(debate) }),
    ...(typeof given === 'string' && { given: resolve(given) }),
  };
}

async function locateProcess(name: string): Promise<string> {
  const { shipped, folder } = await findRecipe(name);
  return shipped ? name : folder;
}

const isOptions = (value: unknown): value is Options =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
