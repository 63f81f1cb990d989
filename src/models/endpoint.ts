import { DialecticError } from '../errors/errors.ts';
import { type ProviderConfig, type ProviderKind, presetOf } from './config.ts';

const HOSTED: Readonly<Record<ProviderKind, { origin?: string; path: string }>> = {
  openai: { origin: 'https://api.openai.com', path: '/v1' },
  anthropic: { origin: 'https://api.anthropic.com', path: '/v1' },
  google: { origin: 'https://generativelanguage.googleapis.com', path: '/v1beta' },
  compatible: { path: '/v1' },
};

type Endpoint = { readonly baseUrl: string; readonly apiKey: string | undefined };

/** The one compatible provider that needs a key, lists its models without one and can check it. */
export const isOpenRouter = ({ baseUrl }: ProviderConfig): boolean =>
  baseUrl?.startsWith('https://openrouter.ai/') ?? false;

/** Whether a call could be tried: an address of the user's own, or a hosted one with a key. */
export function isConfigured(provider: ProviderConfig): boolean {
  if (provider.kind !== 'compatible') return Boolean(provider.apiKey ?? provider.baseUrl);
  if (isOpenRouter(provider)) return provider.apiKey !== undefined;
  return provider.baseUrl !== undefined;
}

/** Address and key of a provider; a bare origin gets the version path that the API lives under. */
export function resolveEndpoint(name: string, provider: ProviderConfig): Endpoint {
  if (!isConfigured(provider)) throw notConfigured(name, provider);
  const { origin, path } = HOSTED[provider.kind];
  const url = new URL(provider.baseUrl ?? `${origin}${path}`);
  if (url.pathname === '/') url.pathname = path;
  return { baseUrl: url.href.replace(/(?<!\/)\/+$/, ''), apiKey: provider.apiKey };
}

function notConfigured(name: string, provider: ProviderConfig): DialecticError {
  const { keyNames, urlNames } = presetOf(name);
  const needsAddress = provider.kind === 'compatible' && !provider.baseUrl;
  const [variable] = needsAddress ? urlNames : keyNames;
  const setting = needsAddress
    ? `set providers.${name}.baseUrl in the configuration`
    : `store one with: dialectic keys set ${name}`;
  const own = variable === undefined ? setting : `set ${variable}, or ${setting}`;
  const remedy = provider.isFolders
    ? `the configuration of this folder sets it, so that your own key is not used; name the key's variable ` +
      `there with apiKeyEnv${variable === undefined ? '' : `: ${variable}`}`
    : own;
  return new DialecticError(
    'provider_not_configured',
    `There is no ${needsAddress ? 'base URL' : 'key'} for "${name}": ${remedy}.`,
    { details: { provider: name, variable: variable ?? null } },
  );
}
