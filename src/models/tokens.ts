import { hash } from 'node:crypto';
import { sleep } from '../platform/clock.ts';
import { onceFor } from '../text/memo.ts';
import { parseModelId } from './model-id.ts';
import type { ModelRequest } from './types.ts';

/** Counts tokens as a model would. */
export type TokenCounter = {
  count(model: string, text: string): number;
  /** By the tokenizer alone, without the safety for models of others. */
  countPlain(text: string): number;
  /** System instruction and messages with what each message costs in framing. */
  countRequest(request: ModelRequest): number;
  /** How many characters were tokenised so far; a text that is known is not tokenised again. */
  readonly tokenised: number;
};

/**
 * Only OpenAI's tokenizer is public. The others get its count times a factor that lies above what
 * their own come to on English and Markdown; the bill uses what the provider reports.
 */
const SAFETY: Readonly<Record<string, number>> = { openai: 1, offline: 1, google: 1.15 };
const ANTHROPIC_SAFETY = 1.35;
/** OpenAI's models up to GPT-4 have an older tokenizer, which makes up to a tenth more of a text. */
const OLDER = /^openai\/(?:gpt-4(?![o.])|gpt-3\.5)/;
const OLDER_SAFETY = 1.1;
const OTHER_SAFETY = 1.2;
const FRAME_TOKENS = 4;
const MOST_CACHED = 20_000;
/** A longer paragraph is known by its digest instead of its text. */
const LONGEST_KEY = 1_000;
/** What a paragraph may begin with so that no token reaches into it from the one before. */
const BEGINNING = /[^\s/]/;

/** Longer runs of one kind of character go in slices: the merge is quadratic in a run's length. */
const SLICE = 256;
const LONG_RUN = new RegExp(
  `[\\p{L}\\p{M}]{${SLICE},}|\\s{${SLICE},}|[^\\s\\p{L}\\p{N}\\p{M}]{${SLICE},}`,
  'gu',
);
const SLICES = new RegExp(`[\\s\\S]{1,${SLICE}}`, 'gu');

let loading: Promise<TokenCounter> | undefined;

/** Loads the tokenizer on first use (110 ms, 100 MB) and keeps it. */
export function loadTokenCounter(): Promise<TokenCounter> {
  loading ??= import('gpt-tokenizer').then(({ countTokens }) =>
    createTokenCounter((text) => countTokens(text, { disallowedSpecial: new Set() })),
  );
  return loading;
}

/** What is sent to the store in this turn and the next ones has left by then. */
const COUNTED_AFTER_MS = 2;

/** Counts a text that later requests hold, before one of them waits for it; loads no tokenizer. */
export async function countAhead(text: string): Promise<void> {
  // Where it cannot be loaded, the request that needs it says so.
  const counter = await loading?.catch(() => undefined);
  await sleep(COUNTED_AFTER_MS);
  counter?.countPlain(text);
}

/** Counts with the given tokenizer, each text and each paragraph of one once. */
export function createTokenCounter(tokenise: (text: string) => number): TokenCounter {
  const texts = new Map<string, number>();
  const paragraphs = new Map<string, number>();
  let tokenised = 0;

  function countPlain(text: string): number {
    tokenised += text.length;
    return tokenise(text);
  }

  function countCached(text: string): number {
    if (text.length < SLICE) return countParagraph(text);
    const digest = hash('sha256', text, 'base64');
    const known = texts.get(digest);
    if (known !== undefined) {
      texts.delete(digest);
      texts.set(digest, known);
      return known;
    }
    let count = 0;
    for (let from = 0, to = 0; from < text.length; from = to) {
      to = endOfParagraph(text, from);
      count += countParagraph(text.slice(from, to));
    }
    keep(texts, digest, count);
    return count;
  }

  function countParagraph(text: string): number {
    const isShort = text.length <= LONGEST_KEY;
    const key = isShort ? text : hash('sha256', text, 'base64');
    const known = paragraphs.get(key);
    if (known !== undefined) return known;
    const count = text.length < SLICE ? countPlain(text) : countSliced(text, countPlain);
    keep(paragraphs, isShort ? copyOf(text) : key, count);
    return count;
  }

  const count = (model: string, text: string): number =>
    Math.ceil(countCached(text) * safetyOf(model));
  return {
    get tokenised() {
      return tokenised;
    },
    count,
    countPlain: countCached,
    countRequest: ({ model, system, messages }) =>
      [system, ...messages.map((message) => message.content)].reduce(
        (sum, text) => sum + count(model, text) + FRAME_TOKENS,
        0,
      ),
  };
}

/**
 * Everything that a request sends, by the tokenizer alone: its texts with the framing of messages
 * and, where the provider gets one, its schema.
 */
export function countPlainly(
  counter: TokenCounter,
  { system, messages, schema, continues }: ModelRequest,
): number {
  const texts = [system, ...messages.map(({ content }) => content)];
  const shape = schema && !continues ? counter.countPlain(textOf(schema.schema)) : 0;
  return texts.reduce((sum, text) => sum + counter.countPlain(text) + FRAME_TOKENS, shape);
}

/**
 * Where the paragraph ends that begins at `from`. The tokenizer splits every text behind its line
 * breaks before it merges, so that the counts of paragraphs add up to the count of the whole.
 */
function endOfParagraph(text: string, from: number): number {
  for (let at = text.indexOf('\n\n', from); at >= 0; at = text.indexOf('\n\n', at + 1)) {
    if (BEGINNING.test(text.charAt(at + 2))) return at + 2;
  }
  return text.length;
}

/** A part of a text would keep the whole in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

function keep(counts: Map<string, number>, key: string, count: number): void {
  if (counts.size >= MOST_CACHED) counts.delete(counts.keys().next().value!);
  counts.set(key, count);
}

/** A schema as it is sent; most requests for one document have the same object. */
const textOf = onceFor((schema: object) => JSON.stringify(schema));

function countSliced(text: string, countPlain: (text: string) => number): number {
  let total = 0;
  let from = 0;
  for (const run of text.matchAll(LONG_RUN)) {
    total += countPlain(text.slice(from, run.index));
    for (const slice of run[0].match(SLICES) ?? []) total += countPlain(slice);
    from = run.index + run[0].length;
  }
  return total + countPlain(text.slice(from));
}

/** What the tokenizer's count is multiplied by where no call has shown how a model counts. */
export function safetyOf(model: string): number {
  if (model.includes('claude')) return ANTHROPIC_SAFETY;
  if (OLDER.test(model)) return OLDER_SAFETY;
  const { provider } = parseModelId(model);
  return (Object.hasOwn(SAFETY, provider) ? SAFETY[provider] : undefined) ?? OTHER_SAFETY;
}
