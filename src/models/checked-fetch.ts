import { DialecticError } from '../errors/errors.ts';
import type { SendHttp } from '../platform/http.ts';
import { cleanText } from '../text/clean-text.ts';
import type { HideSecrets } from '../text/hide-fragments.ts';
import { limitResponse, STREAM_LIMITS, WHOLE_LIMITS } from './limit-response.ts';

/**
 * Wraps the client for one provider: a successful answer of the wrong content type is an error
 * (a login page must never become a document), redirects are not followed (they would carry key
 * and prompt elsewhere), its size is limited, and every byte that arrives is reported. Requests
 * leave in ASCII.
 */
export function createCheckedFetch(
  send: SendHttp,
  stream: boolean,
  hide: HideSecrets,
  onByte: () => void,
): SendHttp {
  return async (input, init) => {
    const response = await send(input, { ...toAscii(init), redirect: 'manual' });
    const type = cleanText(response.headers.get('content-type') ?? '');
    if (response.ok && !isExpected(type, stream)) {
      await response.body?.cancel();
      const contentType = hide(type).toLowerCase().slice(0, 80);
      throw new DialecticError(
        'provider_bad_response',
        `The answer is "${contentType}" instead of ${stream ? 'a stream' : 'JSON'}.`,
        { details: { contentType, status: response.status } },
      );
    }
    return limitResponse(response, stream ? STREAM_LIMITS : WHOLE_LIMITS, onByte);
  };
}

/**
 * Escapes what is not ASCII in a JSON body. Servers and proxies that decode each network packet on
 * its own garble a letter that is split between two, and then do not know their own words again.
 */
function toAscii(init: RequestInit | undefined): RequestInit | undefined {
  if (typeof init?.body !== 'string') return init;
  const body = init.body.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { ...init, body };
}

/** A missing or unspecific type is let through: parsing decides. */
function isExpected(type: string, stream: boolean): boolean {
  const essence = type.split(';')[0]!.trim().toLowerCase();
  if (essence === '' || essence === 'application/octet-stream') return true;
  if (stream) return essence === 'text/event-stream';
  return essence === 'text/plain' || /^application\/([\w.+-]+\+)?json$/.test(essence);
}
