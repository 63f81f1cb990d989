import { DialecticError } from '../platform/errors.ts';
import { readTextFolder } from '../platform/folders.ts';
import { findRecipe } from '../platform/recipe-folders.ts';
import { loadProcess } from '../recipe/validate.ts';
import type { NewRun } from '../session/start.ts';
import { readBrief, readResource } from './brief.ts';

/** What `run` and `estimate` are told alike. */
export type NewRunOptions = {
  model: string[];
  process: string;
  until?: string;
  resource: string[];
  writer?: string;
  domain?: string;
  name?: string;
};

const OFFLINE_MODELS = ['offline/builder', 'offline/skeptic'];

/** Options that may be given several times. */
export const collect = (value: string, before: string[]): string[] => [...before, value];

/** Reads the files that a command names into a run that could be started. */
export async function prepareRun(
  briefPath: string,
  options: NewRunOptions,
): Promise<Omit<NewRun, 'tenantId'>> {
  const { name, brief } = await readBrief(briefPath);
  const resources = await Promise.all(options.resource.map(readResource));
  const { folder } = await findRecipe(options.process);
  const models = options.model.length > 0 ? options.model : OFFLINE_MODELS;
  return {
    name: options.name ?? name,
    domain: options.domain ?? null,
    brief,
    resources,
    process: loadProcess(await readTextFolder(folder)),
    models,
    untilStage: options.until ?? null,
    writer: options.writer ? findWriter(models, options.writer) : null,
  };
}

function findWriter(models: readonly string[], writer: string): number {
  const at = models.indexOf(writer);
  if (at >= 0) return at + 1;
  throw new DialecticError('usage_invalid', `${writer} takes no part in this run.`);
}
