import { DEFAULT_CONCURRENCY, presetOf } from '../models/config.ts';
import { isRecord } from '../text/is-record.ts';
import { readFields, type SetField } from './config-fields.ts';

/**
 * What the configuration of a folder may do with a field before the user has trusted it: lower or raise
 * what holds without it, count where it is higher (prices), or nothing.
 */
export type FolderRight = {
  readonly may: 'lower' | 'raise' | 'count if higher' | 'nothing';
  readonly because: string;
};

const nothing = (because: string): FolderRight => ({ may: 'nothing', because });
const lower = (because: string): FolderRight => ({ may: 'lower', because });
const raise = (because: string): FolderRight => ({ may: 'raise', because });

const PRICE: FolderRight = {
  may: 'count if higher',
  because: 'your own price and that of the catalogue are the least',
};
const CUT = nothing('ends calls early, which are paid for and made again');
const SEARCHES = nothing('decides who reads your searches');
const SLOWER = raise('longer rests ask providers less often');

/**
 * Every field of a configuration. A folder may come from somebody else, so a field that is not in this
 * list, or is added later, needs trust; a test fails until such a field has a line here.
 */
export const FOLDER_RIGHTS: Readonly<Record<string, FolderRight>> = {
  'providers.NAME.kind': nothing('decides how your key and your briefs are sent'),
  'providers.NAME.apiKey': nothing('decides whose account sees your briefs'),
  'providers.NAME.apiKeyEnv': nothing('reads a variable of your environment, and sends it'),
  'providers.NAME.baseUrl': nothing('decides who gets your briefs and keys'),
  'providers.NAME.headers': nothing('is sent with your briefs and keys'),
  'providers.NAME.concurrency': lower('fewer calls at a time cost no more'),
  'providers.NAME.streaming': nothing('loses what has arrived when a call ends early'),
  'providers.NAME.structuredOutputs': nothing('makes answers be asked for again more often'),
  'providers.NAME.api': nothing('changes what is asked with your key'),
  'providers.NAME.local': nothing('makes calls free in the ledger'),
  'providers.NAME.timeouts.firstByteMs': CUT,
  'providers.NAME.timeouts.silenceMs': CUT,
  'providers.NAME.timeouts.totalMs': CUT,
  'models.ID.windowTokens': nothing('makes more requests, or requests that fail'),
  'models.ID.maxOutputTokens': nothing('makes more requests for an answer'),
  'models.ID.price.input': PRICE,
  'models.ID.price.output': PRICE,
  'models.ID.price.cachedInput': PRICE,
  'models.ID.price.cacheWrite': PRICE,
  'models.ID.options': nothing('changes what is asked with your key'),
  participants: nothing('decides who reads your briefs'),
  embeddings: nothing('decides who reads your documents'),
  'jobs.maxAttempts': lower('fewer tries cost less'),
  'jobs.firstRetryMs': SLOWER,
  'jobs.longestRetryMs': SLOWER,
  'jobs.maxTakeovers': lower('a job that ends its workers is given up sooner'),
  'retention.days': raise('deletes later'),
  'spending.confirmAboveUsd': lower('asks you sooner'),
  'sources.allowPrivate': nothing('opens hosts of your network'),
  'sources.mergeAt': nothing('decides which of your sources count as one'),
  'sources.search': SEARCHES,
  'sources.searchUrl': SEARCHES,
  'sources.searchKeyEnv': nothing('reads a variable of your environment, and sends it'),
};

/** A right in a few words, for docs/configuration.md. */
export const describeRight = ({ may, because }: FolderRight): string =>
  `${may === 'nothing' ? 'only trusted' : `may ${may}`}: ${because}`;

/**
 * What a folder's configuration does for which it has to be trusted, a sentence for each field, against
 * the configuration that holds without it.
 */
export function findUntrusted(own: unknown, found: unknown, source: string): string[] {
  return readFields(source, found).flatMap((field) => {
    const right = FOLDER_RIGHTS[field.pattern] ?? nothing('is not known to be harmless');
    if (isHarmless(field, right, own)) return [];
    return [`sets ${field.path}${show(field)}, which ${explain(field, right)}`];
  });
}

function isHarmless(field: SetField, { may }: FolderRight, own: unknown): boolean {
  if (may === 'nothing') return false;
  if (may === 'count if higher') return true;
  const { value } = field;
  const before = valueWithout(field, own);
  // The parser of the section refuses a value that is no number.
  if (typeof value !== 'number' || typeof before !== 'number') return false;
  return may === 'lower' ? value <= before : value >= before;
}

const explain = ({ value }: SetField, { may, because }: FolderRight): string => {
  if (may === 'nothing' || typeof value !== 'number') return because;
  return `is ${may === 'lower' ? 'more' : 'less'} than you allow`;
};

/** The value of a field without the folder: the user's own, else its default. */
function valueWithout({ path, pattern, keys, preset }: SetField, own: unknown): unknown {
  const set = keys.reduce<unknown>(
    (at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    own,
  );
  if (set !== undefined) return set;
  if (pattern !== 'providers.NAME.concurrency') return preset;
  return presetOf(path.split('.')[1] ?? '').concurrency ?? DEFAULT_CONCURRENCY;
}

/** Values that may be secrets are not repeated. */
const HIDDEN = /\.(?:apiKey|headers|options)$/;
const LONGEST = 80;

function show({ path, value }: SetField): string {
  if (HIDDEN.test(path)) return '';
  const text = typeof value === 'string' ? hideAccount(value) : JSON.stringify(value);
  return ` to ${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}`;
}

/** An address may carry a user with a password. */
const hideAccount = (text: string): string => text.replace(/\/\/[^/]*@/, '//');
