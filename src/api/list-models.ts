import type { ErrorData } from '../errors/errors.ts';
import { type ModelsConfig, readModelsConfig } from '../models/config.ts';
import { type ListedProvider, listModels as listProviders } from '../models/list-models.ts';
import { PERSONA_NAMES } from '../models/offline/personas.ts';
import type { DialecticOptions } from './open-dialectic.ts';

/** What runs can be made with: the offline author, and what each provider offers now. */
export type ModelList = {
  readonly offline: readonly string[];
  readonly providers: readonly (Omit<ListedProvider, 'problem'> & {
    /** Why the provider could not be asked. */
    readonly problem: ErrorData | null;
  })[];
};

/** Asks every configured provider what it offers; needs no store. */
export const listModels = ({
  environment = process.env,
  configuration = {},
  folder,
}: Pick<DialecticOptions, 'environment' | 'configuration' | 'folder'> = {}): Promise<ModelList> =>
  listConfigured(readModelsConfig(environment, configuration, folder));

export async function listConfigured(config: ModelsConfig): Promise<ModelList> {
  const providers = await listProviders(config);
  return {
    offline: PERSONA_NAMES.map((name) => `offline/${name}`),
    providers: providers.map((one) => ({ ...one, problem: one.problem?.toJSON() ?? null })),
  };
}
