import { DialecticError, messageOf } from '../errors/errors.ts';
import { secretsHider } from '../models/hide-secrets.ts';
import { limitResponse, WHOLE_LIMITS } from '../models/limit-response.ts';
import { type SendHttp, sendHttp } from '../platform/http.ts';
import { cleanText } from '../text/clean-text.ts';
import type { HideSecrets } from '../text/hide-fragments.ts';
import { isRecord } from '../text/is-record.ts';
import { asLine, asYear } from './describe-markdown.ts';
import { MOST_HITS, type SearchHit, type SearchProvider } from './search-provider.ts';

/** A service that searches the web. */
export type WebSearch = {
  readonly provider: 'searxng' | 'brave' | 'tavily';
  /** Where its API is; SearXNG has none of its own. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
};

/** How a service is asked, and where its answer has the hits. */
type Service = {
  readonly baseUrl?: string;
  readonly needsKey: boolean;
  readonly ask: (query: string, most: number, key: string) => RequestInit & { path: string };
  readonly results: (answer: Readonly<Record<string, unknown>>) => unknown;
  readonly text: string;
  readonly date: string;
};

const MOST_MS = 20_000;
/** Brave and Tavily refuse longer queries, and give no more hits at once. */
const LONGEST_QUERY = 400;
const MOST_AT_ONCE = 20;

const withQuery = (path: string, query: Record<string, string>): string =>
  `${path}?${new URLSearchParams(query).toString()}`;

const SERVICES: Readonly<Record<WebSearch['provider'], Service>> = {
  searxng: {
    needsKey: false,
    ask: (query) => ({ path: withQuery('/search', { q: query, format: 'json' }) }),
    results: ({ results }) => results,
    text: 'content',
    date: 'publishedDate',
  },
  brave: {
    baseUrl: 'https://api.search.brave.com/res/v1',
    needsKey: true,
    ask: (query, most, key) => ({
      path: withQuery('/web/search', {
        q: query,
        count: String(Math.min(most, MOST_AT_ONCE)),
        text_decorations: 'false',
        result_filter: 'web',
      }),
      headers: { 'x-subscription-token': key },
    }),
    results: ({ web }) => (isRecord(web) ? web['results'] : []),
    text: 'description',
    date: 'page_age',
  },
  tavily: {
    baseUrl: 'https://api.tavily.com',
    needsKey: true,
    ask: (query, most, key) => ({
      path: '/search',
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: Math.min(most, MOST_AT_ONCE) }),
    }),
    results: ({ results }) => results,
    text: 'content',
    date: 'published_date',
  },
};

/** Searches the web through a service; what it finds is not fetched, and its texts are but snippets. */
export function webSearch(config: WebSearch, send: SendHttp = sendHttp): SearchProvider {
  const { provider, apiKey = '' } = config;
  const service = SERVICES[provider];
  const baseUrl = config.baseUrl ?? service.baseUrl;
  if (baseUrl === undefined || (service.needsKey && apiKey === '')) {
    const missing = baseUrl === undefined ? 'address' : 'key';
    const message = `There is no ${missing} for the search with ${provider}.`;
    throw new DialecticError('search_not_configured', message);
  }
  const hide = secretsHider({ apiKey });
  return {
    name: provider,
    async search(query, { most = MOST_HITS, signal, onAnswered } = {}) {
      const deadline = AbortSignal.timeout(MOST_MS);
      const { path, ...init } = service.ask(query.slice(0, LONGEST_QUERY), most, apiKey);
      const url = baseUrl.replace(/\/$/, '') + path;
      const until = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
      const answer = await ask(provider, hide, async () => {
        // A redirect would carry the key elsewhere.
        const response = await send(url, { ...init, redirect: 'manual', signal: until });
        if (response.ok) onAnswered?.();
        return response;
      });
      const results = isRecord(answer) ? service.results(answer) : [];
      const hits = Array.isArray(results)
        ? results.flatMap((one) => hitOf(one, service, hide))
        : [];
      return hits.slice(0, most);
    },
  };
}

async function ask(
  name: string,
  hide: HideSecrets,
  send: () => Promise<Response>,
): Promise<unknown> {
  let response: Response;
  try {
    response = limitResponse(await send(), WHOLE_LIMITS);
    if (response.ok) return await response.json();
  } catch (thrown) {
    // The parser's own message would repeat a part of the answer, with the key in it perhaps.
    const why = thrown instanceof SyntaxError ? 'what came is not JSON' : messageOf(thrown);
    const message = `${name} did not answer the search: ${hide(cleanText(why))}`;
    throw new DialecticError('search_unavailable', message);
  }
  await response.body?.cancel();
  throw explain(name, response.status);
}

function explain(name: string, status: number): DialecticError {
  const isPassing = status === 429 || status >= 500;
  // A SearXNG that was not told to speak JSON answers so.
  const why =
    name === 'searxng' && status === 403
      ? '; add "json" to search.formats in its settings.yml'
      : '';
  const message = `${name} answered the search with status ${status}${why}.`;
  const code = isPassing ? 'search_unavailable' : 'search_refused';
  return new DialecticError(code, message, { details: { status } });
}

/** A hit with an address of the web; the rest is left out, as is an address with the key in it. */
function hitOf(one: unknown, { text, date }: Service, hide: HideSecrets): SearchHit[] {
  if (!isRecord(one) || typeof one['url'] !== 'string') return [];
  const url = URL.parse(one['url']);
  if (url === null || !/^https?:$/.test(url.protocol) || hide(url.href) !== url.href) return [];
  const [title, snippet] = [one['title'], one[text]].map((value) => {
    const said = withoutTags(value);
    return asLine(typeof said === 'string' ? hide(cleanText(said)) : said);
  });
  const year = asYear(one[date]);
  const draft = {
    title: title ?? url.href,
    url: url.href,
    ...(year !== undefined && { year }),
    excerpts: snippet === undefined ? [] : [snippet],
  };
  return [{ place: url.href, draft }];
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#x27': "'",
  nbsp: ' ',
};

/** Services mark the words of a query in their snippets. */
const withoutTags = (value: unknown): unknown =>
  typeof value === 'string'
    ? value
        .replace(/<\/?(?:strong|b|em|mark|i|br)\s?\/?>/gi, '')
        .replace(/&(amp|lt|gt|quot|#39|#x27|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '')
    : value;
