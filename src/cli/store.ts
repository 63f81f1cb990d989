import type { Dialectic } from '../api/dialectic.ts';
import { type DialecticOptions, openDialectic } from '../api/open-dialectic.ts';
import { locateStore } from '../db/open.ts';
import { readConfigurationFiles } from './configuration.ts';
import { readStoredKeys } from './key-store.ts';
import { tell } from './output.ts';

/** Opens the store for one command that calls no model, and closes it whatever happens. */
export const withDialectic = <T>(
  data: string | undefined,
  work: (dialectic: Dialectic) => Promise<T>,
): Promise<T> => withOptions(data, { environment: {}, callsModels: false }, work);

/** The same for a command that calls models, as the configuration and the environment say. */
export const withModels = <T>(
  data: string | undefined,
  work: (dialectic: Dialectic) => Promise<T>,
): Promise<T> => {
  const configuration = readConfigurationFiles();
  return withOptions(data, { configuration, searchKeys: readStoredKeys() }, work);
};

/** The same for a command that calls no model, with the retention that the configuration sets. */
export const withRetention = <T>(
  data: string | undefined,
  work: (dialectic: Dialectic) => Promise<T>,
): Promise<T> => {
  const { retention } = readConfigurationFiles();
  return withOptions(
    data,
    { environment: {}, configuration: { retention }, callsModels: false },
    work,
  );
};

async function withOptions<T>(
  data: string | undefined,
  options: DialecticOptions,
  work: (dialectic: Dialectic) => Promise<T>,
): Promise<T> {
  const dialectic = await openDialectic({
    ...locateStore(process.env, data),
    log: tell,
    ...options,
  });
  try {
    return await work(dialectic);
  } finally {
    await dialectic.close();
  }
}
