import { type Environment, firstSet, parseModelsFile, presetOf } from './config.ts';

/**
 * What an untrusted configuration would do with secrets and briefs that are not its own: a sentence
 * where it chooses who gets the briefs, for each variable that it names, and for each key of the
 * environment or of the user's own configuration that it sends elsewhere. Prices, limits and servers
 * without a key are none.
 */
export function findLiberties(environment: Environment, own: unknown, found: unknown): string[] {
  const { providers: trusted = {} } = parseModelsFile(own);
  const { providers = {}, participants, embeddings } = parseModelsFile(found);
  const chooses = [
    ...(participants ? ['chooses who reads your briefs (participants)'] : []),
    ...(embeddings ? ['chooses who reads your documents (embeddings)'] : []),
  ];
  const taken = Object.entries(providers).flatMap(([name, wanted]) => {
    const { keyNames, urlNames, kind } = presetOf(name);
    const before = Object.hasOwn(trusted, name) ? trusted[name] : undefined;
    const liberties: string[] = [];
    if (wanted.apiKeyEnv) liberties.push(`reads the variable ${wanted.apiKeyEnv}`);
    const variables = before?.apiKeyEnv ? [before.apiKeyEnv, ...keyNames] : keyNames;
    const key = firstSet(environment, variables) ?? before?.apiKey;
    if (key === undefined) return liberties;
    const address = firstSet(environment, urlNames) === undefined ? wanted.baseUrl : undefined;
    if (address !== undefined && address !== before?.baseUrl) {
      liberties.push(`sends your key of ${name} to ${URL.parse(address)?.host ?? 'an address'}`);
    }
    if (wanted.kind !== undefined && wanted.kind !== (before?.kind ?? kind)) {
      liberties.push(`sends your key of ${name} as one of ${wanted.kind}`);
    }
    if (wanted.headers) liberties.push(`adds headers to what is sent with your key of ${name}`);
    return liberties;
  });
  return [...chooses, ...taken];
}
