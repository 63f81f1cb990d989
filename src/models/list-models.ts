import { DialecticError } from '../errors/errors.ts';
import { type SendHttp, sendHttp } from '../platform/http.ts';
import { classifyError } from './classify-error.ts';
import type { ModelsConfig, ProviderConfig } from './config.ts';
import { isConfigured, resolveEndpoint } from './endpoint.ts';
import { type HideSecrets, secretsHider } from './hide-secrets.ts';
import { limitResponse, WHOLE_LIMITS } from './limit-response.ts';
import { findPrice, type ModelPrice } from './prices.ts';
import { findWindow } from './windows.ts';

type ListedModel = {
  readonly id: string;
  readonly windowTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly price: ModelPrice | null;
};

/** How one provider stands: `reachable` is null where it was not asked. */
type ListedProvider = {
  readonly provider: string;
  readonly configured: boolean;
  readonly reachable: boolean | null;
  readonly problem: DialecticError | null;
  readonly models: readonly ListedModel[];
};

type Offered = { readonly name: string; readonly windowTokens: number | null };

const PROBE_MS = 5_000;

/** Asks every configured provider what it offers; a provider that is down is a row, no error. */
export function listModels(
  config: ModelsConfig,
  send: SendHttp = sendHttp,
): Promise<ListedProvider[]> {
  return Promise.all(
    Object.entries(config.providers).map(([name, provider]) =>
      listProvider(name, provider, config, send),
    ),
  );
}

async function listProvider(
  provider: string,
  own: ProviderConfig,
  config: ModelsConfig,
  send: SendHttp,
): Promise<ListedProvider> {
  const configured = isConfigured(own);
  const named = Object.keys(config.models)
    .filter((id) => id.startsWith(`${provider}/`))
    .map((id) => ({ name: id.slice(provider.length + 1), windowTokens: null }));
  const answer = configured ? await probe(provider, own, send) : { offered: [], problem: null };
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

type Answer = { readonly offered: Offered[]; readonly problem: DialecticError | null };

async function probe(name: string, provider: ProviderConfig, send: SendHttp): Promise<Answer> {
  const hide = secretsHider(provider);
  try {
    const { baseUrl, apiKey } = resolveEndpoint(name, provider);
    const response = await send(`${baseUrl}/models`, {
      headers: { ...authorise(provider, apiKey), ...provider.headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(PROBE_MS),
    });
    if (!response.ok) return { offered: [], problem: refusal(name, response.status, hide) };
    const { body } = limitResponse(response, WHOLE_LIMITS);
    return { offered: readOffered(await new Response(body).json(), hide), problem: null };
  } catch (error) {
    return { offered: [], problem: probeProblem(name, error, hide) };
  }
}

function authorise(provider: ProviderConfig, key = 'none'): Record<string, string> {
  if (provider.kind === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
  if (provider.kind === 'google') return { 'x-goog-api-key': key };
  return { authorization: `Bearer ${key}` };
}

function refusal(name: string, status: number, hide: HideSecrets): DialecticError {
  const thrown = Object.assign(new Error(`answered with status ${status}`), { statusCode: status });
  return classifyError(thrown, { provider: name, model: '*' }, hide);
}

function probeProblem(name: string, error: unknown, hide: HideSecrets): DialecticError {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new DialecticError('provider_timeout', `${name} did not answer within ${PROBE_MS} ms.`);
  }
  if (error instanceof DialecticError) return error;
  return classifyError(error, { provider: name, model: '*' }, hide);
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
