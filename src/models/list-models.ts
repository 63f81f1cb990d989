import { type DialecticError, toDialecticError } from '../errors/errors.ts';
import type { SendHttp } from '../platform/http.ts';
import type { HideSecrets } from '../text/hide-fragments.ts';
import { askProvider } from './ask-provider.ts';
import type { ModelsConfig, ProviderConfig, ProviderKind } from './config.ts';
import { isConfigured } from './endpoint.ts';
import { secretsHider } from './hide-secrets.ts';
import { findPrice, type ModelPrice } from './prices.ts';
import { findWindow } from './windows.ts';

type ListedModel = {
  readonly id: string;
  readonly windowTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly price: ModelPrice | null;
};

/** How one provider stands: `reachable` is null where it was not asked. */
export type ListedProvider = {
  readonly provider: string;
  readonly configured: boolean;
  readonly reachable: boolean | null;
  readonly problem: DialecticError | null;
  readonly models: readonly ListedModel[];
};

/** A model that a provider says it has. */
export type Offered = { readonly name: string; readonly windowTokens: number | null };

const PROBE_MS = 5_000;

/** Asks every configured provider what it offers; a provider that is down is a row, no error. */
export function listModels(config: ModelsConfig, timeoutMs = PROBE_MS): Promise<ListedProvider[]> {
  return Promise.all(
    Object.entries(config.providers).map(([name, provider]) =>
      listProvider(name, provider, config, timeoutMs),
    ),
  );
}

async function listProvider(
  provider: string,
  own: ProviderConfig,
  config: ModelsConfig,
  timeoutMs: number,
): Promise<ListedProvider> {
  const configured = isConfigured(own);
  const named = Object.keys(config.models)
    .filter((id) => id.startsWith(`${provider}/`))
    .map((id) => ({ name: id.slice(provider.length + 1), windowTokens: null }));
  const answer = configured
    ? await probe(provider, own, timeoutMs)
    : { offered: [], problem: null };
  const all = new Map([...named, ...answer.offered].map((offer) => [offer.name, offer]));
  return {
    provider,
    configured,
    reachable: configured ? answer.problem === null : null,
    problem: answer.problem,
    models: await Promise.all([...all.values()].map((offer) => describe(provider, offer, config))),
  };
}

async function describe(
  provider: string,
  offer: Offered,
  config: ModelsConfig,
): Promise<ListedModel> {
  const id = `${provider}/${offer.name}`;
  const known = await findWindow(id, config);
  return {
    id,
    windowTokens: known.windowTokens ?? offer.windowTokens,
    maxOutputTokens: known.maxOutputTokens,
    price: await findPrice(id, config),
  };
}

type Answer = { readonly offered: readonly Offered[]; readonly problem: DialecticError | null };

async function probe(name: string, provider: ProviderConfig, timeoutMs: number): Promise<Answer> {
  try {
    return { offered: await askOffered(name, provider, timeoutMs), problem: null };
  } catch (thrown) {
    return { offered: [], problem: toDialecticError(thrown) };
  }
}

/** Most APIs send their lists in pages; these are the largest that they allow. */
const PAGES: Readonly<Record<ProviderKind, string>> = {
  openai: '',
  anthropic: '?limit=1000',
  google: '?pageSize=1000',
  compatible: '',
};

/** Asks a provider which models it offers, which costs nothing. */
export async function askOffered(
  name: string,
  provider: ProviderConfig,
  timeoutMs: number,
  send?: SendHttp,
): Promise<readonly Offered[]> {
  const path = `/models${PAGES[provider.kind]}`;
  const body = await askProvider(name, provider, { path, timeoutMs, send });
  return readOffered(body, secretsHider(provider));
}

/** Every API has its list under `data` or `models`, and its own word for the window. */
function readOffered(body: unknown, hide: HideSecrets): Offered[] {
  const { data, models } = (body ?? {}) as { data?: unknown; models?: unknown };
  const rows = Array.isArray(data) ? data : Array.isArray(models) ? models : [];
  return rows.flatMap((row: Record<string, unknown>) => {
    const given = row['id'] ?? row['name'];
    const name = typeof given === 'string' ? hide(given).replace(/^models\//, '') : '';
    const size = row['context_length'] ?? row['max_model_len'] ?? row['inputTokenLimit'];
    return name ? [{ name, windowTokens: typeof size === 'number' ? size : null }] : [];
  });
}
