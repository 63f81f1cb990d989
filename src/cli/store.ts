import type { Dialectic } from '../api/dialectic.ts';
import { type DialecticOptions, openDialectic } from '../api/open-dialectic.ts';
import { hasDatabase } from '../db/data-directory.ts';
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
): Promise<T> => withOptions(data, optionsOfModels(), work);

const optionsOfModels = (): DialecticOptions => ({
  ...readConfigurationFiles(),
  searchKeys: readStoredKeys(),
});

/**
 * The same for a command that first checks what it was given. A store that exists is opened meanwhile,
 * which takes its thread about as long; one that does not is made when nothing was refused, or when the
 * check opens it. A refusal does not wait for another process that holds the store.
 */
export async function withModelsAfter<T>(
  data: string | undefined,
  check: (open: () => Promise<Dialectic>) => Promise<void>,
  work: (dialectic: Dialectic) => Promise<T>,
): Promise<T> {
  const location = locateStore(process.env, data);
  const isThere = 'dataDirectory' in location && hasDatabase(location.dataDirectory);
  const refused = new AbortController();
  const options = { ...optionsOfModels(), signal: refused.signal };
  let opening = isThere ? openStore(data, options) : null;
  opening?.catch(() => {}); // told below, unless the check has more to tell
  const open = (): Promise<Dialectic> => (opening ??= openStore(data, options));
  await check(open).catch(async (refusal: unknown) => {
    refused.abort();
    await opening?.then(
      (dialectic) => dialectic.close(),
      () => {},
    );
    throw refusal;
  });
  return closingAfter(await open(), work);
}

/** The same for a command that calls no model, with the retention that the configuration sets. */
export const withRetention = <T>(
  data: string | undefined,
  work: (dialectic: Dialectic) => Promise<T>,
): Promise<T> => {
  const { retention } = readConfigurationFiles().configuration;
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
  return closingAfter(await openStore(data, options), work);
}

const openStore = (data: string | undefined, options: DialecticOptions): Promise<Dialectic> =>
  openDialectic({ ...locateStore(process.env, data), log: tell, ...options });

async function closingAfter<T>(
  dialectic: Dialectic,
  work: (dialectic: Dialectic) => Promise<T>,
): Promise<T> {
  try {
    return await work(dialectic);
  } finally {
    await dialectic.close();
  }
}
