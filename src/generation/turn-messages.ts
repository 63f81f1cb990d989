import type { ModelMessage } from '../models/types.ts';
import type { PlannedJob } from '../planning/types.ts';
import type { Rerun } from './rerun.ts';

/**
 * What a turn after the first one asks for; `written` is what each chunk added to the answer, `only`
 * names the sections that are asked for where not all are.
 */
export type NextTurn = {
  readonly written: readonly string[];
  /** The chunks as the model is to see them where some were shortened; the tails stay true. */
  readonly shown?: readonly string[];
  readonly only?: readonly string[];
  readonly rerun?: Rerun;
} & ({ readonly kind: 'continue' } | { readonly kind: 'repair'; readonly problems: string });

/** How much of its own text a model is shown to go on from. */
const TAIL = 120;

/**
 * The messages of one step: its prompt and, in later turns, the conversation since. Each chunk is
 * an assistant message, followed by the request to go on that its successor answered. A message
 * depends only on the chunks before it, so that every turn begins with the bytes of the turn
 * before, and a provider's prompt cache holds all but the last two messages. `evidence` stands with the
 * request that asks for corrections.
 */
export function turnMessages(
  prompt: string,
  turn: NextTurn | null,
  { stage, documentKey }: Pick<PlannedJob, 'stage' | 'documentKey'>,
  evidence = '',
): ModelMessage[] {
  const ask = (...parts: readonly string[]): ModelMessage => ({
    role: 'user',
    content: [...parts, `Deliverable: ${stage}/${documentKey}`]
      .filter((part) => part !== '')
      .join('\n\n'),
  });
  if (turn === null) return [ask(prompt)];
  const chunks = withoutBlanks(turn);
  const only = turn.only ?? [];
  if (chunks.length === 0 && turn.kind === 'repair') {
    return [ask(prompt, evidence, askAnew('Your last', turn.problems, only))];
  }
  const first = [evidence, only.length > 0 ? askFor(only) : ''];
  const messages = [ask(prompt, ...(turn.kind === 'continue' ? first : []))];
  let soFar = '';
  for (const [index, { whole, shown: content }] of chunks.entries()) {
    soFar += whole;
    const repairs = turn.kind === 'repair' && index === chunks.length - 1;
    const request = repairs ? askAnew('This', turn.problems, only) : askToGoOn(soFar);
    messages.push({ role: 'assistant', content }, ask(repairs ? evidence : '', request));
  }
  return messages;
}

/**
 * Providers refuse a message of nothing but white space: it goes to the front of the next chunk.
 * Behind the last chunk it is left out, so that the request to go on stays the one sent before.
 */
function withoutBlanks({ written, shown = written }: NextTurn) {
  const chunks: { readonly whole: string; readonly shown: string }[] = [];
  let blank = '';
  for (const [index, text] of written.entries()) {
    if (text.trim() === '') {
      blank += text;
    } else {
      chunks.push({ whole: blank + text, shown: blank + (shown[index] ?? text) });
      blank = '';
    }
  }
  return chunks;
}

const askToGoOn = (soFar: string): string =>
  `Your answer was cut off. Go on from exactly where it stopped, without repeating anything, without a fence and without a comment. Its last characters are:\n${soFar.slice(-TAIL).replace(/^[\udc00-\udfff]/, '')}`;

const askAnew = (
  which: 'This' | 'Your last',
  problems: string,
  only: readonly string[],
): string => {
  if (only.length > 0) return `${which} answer has faults:\n${problems}\n\n${askFor(only)}`;
  return `${which} answer cannot be used:\n${problems}\n\nWrite the whole JSON object again, corrected.`;
};

/** What is right is neither written nor paid for again. */
const askFor = (only: readonly string[]): string =>
  `Write one JSON object with ${only.length === 1 ? 'this key' : 'these keys'} alone: ${only.join(', ')}. The other sections are right and are kept as they are; leave them out.`;
