import { DialecticError, messageOf } from '../errors/errors.ts';
import { type SendHttp, sendHttp } from '../platform/http.ts';
import { cleanText } from '../text/clean-text.ts';
import type { HideSecrets } from '../text/hide-fragments.ts';
import { classifyError, networkCodeOf } from './classify-error.ts';
import type { ProviderConfig } from './config.ts';
import { resolveEndpoint } from './endpoint.ts';
import { secretsHider } from './hide-secrets.ts';
import { limitResponse, WHOLE_LIMITS } from './limit-response.ts';

/** How a provider is asked for what costs nothing, its list of models for example. */
export type Asking = {
  /** Below the provider's base URL, with its slash. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly send?: SendHttp | undefined;
};

/** Sends a request that no provider bills and returns its JSON; a refusal names the address. */
export async function askProvider(
  name: string,
  provider: ProviderConfig,
  { path, timeoutMs, send = sendHttp }: Asking,
): Promise<unknown> {
  const hide = secretsHider(provider);
  const { baseUrl, apiKey } = resolveEndpoint(name, provider);
  const address = hide(baseUrl);
  const signal = AbortSignal.timeout(timeoutMs);
  const get = (): Promise<Response> =>
    send(`${baseUrl}${path}`, {
      headers: { ...authorise(provider, apiKey), ...provider.headers },
      redirect: 'manual',
      signal,
    });
  try {
    const response = await get().catch((thrown: unknown) => {
      if (!STALE.has(networkCodeOf(thrown) ?? '')) throw thrown;
      return get();
    });
    if (!response.ok) throw explainRefusal(name, address, response.status, hide);
    const { body } = limitResponse(response, WHOLE_LIMITS);
    return await new Response(body).json();
  } catch (thrown) {
    throw explainSilence(thrown, { name, address, timeoutMs, hide });
  }
}

/** The server has closed a connection that was kept open: a new one may well be answered. */
const STALE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

function authorise(provider: ProviderConfig, key = 'none'): Record<string, string> {
  if (provider.kind === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
  if (provider.kind === 'google') return { 'x-goog-api-key': key };
  return { authorization: `Bearer ${key}` };
}

type Asked = {
  readonly name: string;
  readonly address: string;
  readonly timeoutMs: number;
  readonly hide: HideSecrets;
};

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be looked up',
  ECONNRESET: 'the connection was cut',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ETIMEDOUT: 'its host does not answer',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
};

/** What the network said in words that help; undefined where it said nothing known. */
function reasonFor(code = ''): string | undefined {
  if (Object.hasOwn(REASONS, code)) return REASONS[code];
  if (/^(EPROTO|ERR_SSL_)/.test(code))
    return 'it does not speak TLS there; try http:// for https://';
  const isCertificate = /CERT|SIGNATURE|ISSUER/.test(code);
  return isCertificate
    ? `its certificate is not trusted (${code}); name its authority with NODE_EXTRA_CA_CERTS=FILE`
    : undefined;
}

function explainSilence(thrown: unknown, { name, address, timeoutMs, hide }: Asked) {
  if (thrown instanceof DialecticError) return thrown;
  const details = { provider: name, address };
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') {
    const message = `${name} did not answer at ${address} within ${timeoutMs / 1000} s.`;
    return new DialecticError('provider_timeout', message, { details });
  }
  const classified = classifyError(thrown, { provider: name, model: '*' }, hide);
  const reason = reasonFor(networkCodeOf(thrown)) ?? hide(cleanText(causeOf(thrown)));
  const message = `${name} cannot be used at ${address}: ${reason.slice(0, 300)}.`;
  return new DialecticError(classified.code, message, { details });
}

/** `fetch` itself says nothing but that it failed; a parser would repeat a part of the answer. */
function causeOf(thrown: unknown): string {
  if (thrown instanceof SyntaxError) return 'its answer is not JSON';
  return messageOf(thrown instanceof Error ? (thrown.cause ?? thrown) : thrown);
}

function explainRefusal(name: string, address: string, status: number, hide: HideSecrets) {
  const thrown = Object.assign(new Error(`status ${status}`), { statusCode: status });
  const { code } = classifyError(thrown, { provider: name, model: '*' }, hide);
  const said =
    code === 'provider_auth' ? `refused the key at ${address}` : `answered at ${address}`;
  return new DialecticError(code, `${name} ${said} with status ${status}.`, {
    details: { provider: name, address, status },
  });
}
