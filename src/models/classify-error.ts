import { APICallError, JSONParseError } from '@ai-sdk/provider';
import type { ErrorCode } from '../errors/error-codes.ts';
import { DialecticError } from '../errors/errors.ts';
import { now } from '../platform/clock.ts';
import { cleanText } from '../text/clean-text.ts';
import type { HideSecrets } from '../text/hide-fragments.ts';

const LOST = /^(ECONN|ENOTFOUND|EAI_|EPIPE|EHOST|ENET|ETIMEDOUT|UND_ERR|ERR_STREAM_PREMATURE)/;
const INSECURE =
  /^(EPROTO|ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY))/;
const TOO_LONG =
  /context.{0,12}(length|window|limit)|max\w{0,20} context|prompt is too long|too many (input )?tokens/i;
const NO_CREDIT =
  /insufficient_quota|billing|credit balance|payment required|exceeded your current/i;
const LONGEST_MESSAGE = 500;

/** What is known about the call, so that a message can name it and hide what must not be shown. */
type CallContext = { readonly provider: string; readonly model: string };

/**
 * Gives whatever an adapter threw its code. The original is not kept as cause: it holds the whole
 * request, and prompts have no place in logs.
 */
export function classifyError(
  thrown: unknown,
  context: CallContext,
  hide: HideSecrets,
): DialecticError {
  const own = findOwn(thrown);
  if (own) return own;
  const status = APICallError.isInstance(thrown) ? thrown.statusCode : statusIn(thrown);
  const body = APICallError.isInstance(thrown) ? (thrown.responseBody ?? '') : '';
  const said = describe(thrown, hide);
  const code = codeFor(thrown, status, `${said} ${body}`);
  const headers = APICallError.isInstance(thrown) ? (thrown.responseHeaders ?? {}) : {};
  const retryAfterMs = readRetryAfter(headers, body);
  return new DialecticError(code, `${context.provider}/${context.model}: ${said}`, {
    details: {
      ...context,
      ...(status === undefined ? {} : { status }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  });
}

function codeFor(thrown: unknown, status: number | undefined, text: string): ErrorCode {
  if (networkCodeOf(thrown)?.endsWith('TIMEOUT')) return 'provider_timeout';
  if (networkCodeOf(thrown) !== undefined) return 'provider_unreachable';
  if (status === undefined) return codeFromText(text);
  if (status === 401 || status === 403) return 'provider_auth';
  if (status === 402) return 'provider_quota_exhausted';
  if (status === 404) return 'model_unknown';
  if (status === 408 || status === 504) return 'provider_timeout';
  if (status === 429) {
    return NO_CREDIT.test(text) ? 'provider_quota_exhausted' : 'provider_rate_limited';
  }
  if (status === 409 || status === 425 || status >= 500) return 'provider_unavailable';
  if (status === 413 || (status >= 400 && TOO_LONG.test(text))) return 'provider_context_exceeded';
  if (status >= 400)
    return NO_CREDIT.test(text) ? 'provider_quota_exhausted' : 'provider_request_refused';
  return 'provider_bad_response';
}

/** Errors that come inside a stream carry no status, only words. */
function codeFromText(text: string): ErrorCode {
  if (/rate.?limit/i.test(text)) return 'provider_rate_limited';
  if (/overloaded|unavailable|server.?error|internal.?error|api_error/i.test(text)) {
    return 'provider_unavailable';
  }
  return 'provider_bad_response';
}

/** Adapters wrap what the body of a response threw, a limit on its size for example. */
function findOwn(thrown: unknown): DialecticError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth++) {
    if (error instanceof DialecticError) return error;
    error = error.cause;
  }
  return undefined;
}

/** The code that the network gave a fault, ECONNREFUSED for example. */
export function networkCodeOf(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth++) {
    const { code } = error as { code?: unknown };
    if (typeof code === 'string' && (LOST.test(code) || INSECURE.test(code))) return code;
    if (error instanceof AggregateError && error.errors.length > 0) error = error.errors[0];
    else error = error.cause;
  }
  return undefined;
}

function statusIn(thrown: unknown): number | undefined {
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

/** Control characters go first, since they could split a secret, and the cut comes last. */
function describe(thrown: unknown, hide: HideSecrets): string {
  return hide(cleanText(messageOf(thrown) || 'no message'))
    .replace(/\s+/g, ' ')
    .slice(0, LONGEST_MESSAGE);
}

/** The engine's own message about JSON repeats ten characters of it, which may be cut from a key. */
function messageOf(thrown: unknown): string {
  if (JSONParseError.isInstance(thrown)) return `This is not valid JSON: ${thrown.text}`;
  if (thrown instanceof SyntaxError) return 'The answer is not valid JSON.';
  return thrown instanceof Error ? thrown.message : JSON.stringify(thrown);
}

/** Seconds, milliseconds or a date in the headers; Google says it in the body. */
function readRetryAfter(headers: Record<string, string>, body: string): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (milliseconds >= 0 && Number.isFinite(milliseconds)) return Math.ceil(milliseconds);
  const value = headers['retry-after'];
  if (value !== undefined) {
    const wait = /^\d/.test(value) ? Number(value) * 1000 : Date.parse(value) - now().getTime();
    if (Number.isFinite(wait)) return Math.max(0, Math.ceil(wait));
  }
  const delay = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body);
  return delay ? Math.ceil(Number(delay[1]) * 1000) : undefined;
}
