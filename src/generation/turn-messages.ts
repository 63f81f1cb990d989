import type { ModelMessage } from '../models/types.ts';
import type { PlannedJob } from '../planning/types.ts';
import { entryPortion, GUIDANCE_SECTION, piecesOf, sectionsOf } from '../recipe/portions.ts';
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
  /** Sections that are asked for in requests of their own afterwards. */
  readonly later?: readonly string[];
  /** Where the model is shown only the end of its answer so far: the sections that are whole. */
  readonly complete?: readonly string[];
  /** Whether that end is a short one. */
  readonly isTerse?: boolean;
} & (
  | { readonly kind: 'continue' | 'part' }
  | { readonly kind: 'repair'; readonly problems: string }
);

/** How much of its own text a model is shown to go on from. */
const TAIL = 120;
/** How much of it is shown where the whole does not fit the window: some 400 tokens. */
const LONG_TAIL = 1_600;
/** The same in the smallest windows: some 50 tokens. */
const SHORT_TAIL = 200;

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
  const only = turn.only ?? [];
  if (turn.kind === 'part') return [ask(prompt, evidence, askForPart(only))];
  const chunks = withoutBlanks(turn);
  if (chunks.length === 0 && turn.kind === 'repair') {
    return [ask(prompt, evidence, askAnew('Your last', turn.problems, only))];
  }
  const first = turn.kind === 'continue' ? [evidence, only.length > 0 ? askFor(only) : ''] : [];
  if (turn.kind === 'continue' && turn.complete !== undefined) {
    const whole = chunks.map((chunk) => chunk.whole).join('');
    return [
      ask(prompt, ...first, outline(turn.complete, turn.isTerse)),
      { role: 'assistant', content: endOf(whole, turn.isTerse ? SHORT_TAIL : LONG_TAIL) },
      ask(turn.isTerse ? GO_ON_TERSELY : askToGoOn(whole)),
    ];
  }
  const messages = [ask(prompt, ...first)];
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
  `Your answer was cut off. Go on from exactly where it stopped, without repeating anything, without a fence and without a comment. Its last characters are:\n${endOf(soFar, TAIL)}`;

const GO_ON_TERSELY =
  'Your answer was cut off. Go on behind its last character, without a fence or comment.';

/** The last characters of a text, without the second half of a surrogate pair at their front. */
const endOf = (text: string, most: number): string =>
  text.slice(-most).replace(/^[\udc00-\udfff]/, '');

/** What was written so far; in the smallest windows, that nothing is finished goes without saying. */
const outline = (complete: readonly string[], isTerse = false): string => {
  const done =
    complete.length === 0
      ? 'No section of it is'
      : `Whole already: ${complete.join(', ')}; no other section is`;
  const state = isTerse && complete.length === 0 ? '' : ` ${done} finished.`;
  return `You have written a part of this JSON object.${state} Only the end of what you wrote stands below.`;
};

const askAnew = (
  which: 'This' | 'Your last',
  problems: string,
  only: readonly string[],
): string => {
  if (only.length > 0) return `${which} answer has faults:\n${problems}\n\n${askFor(only)}`;
  return `${which} answer cannot be used:\n${problems}\n\nWrite the whole JSON object again, corrected.`;
};

/** The sections of a document that is written in several requests. */
const askForPart = (only: readonly string[]): string =>
  `${askForKeys(only)} The other sections are asked for in requests of their own; leave them out. A length given above is that of the whole document.`;

/** What is right is neither written nor paid for again. */
const askFor = (only: readonly string[]): string =>
  `${askForKeys(only)} The other sections are right and are kept as they are; leave them out.`;

const askForKeys = (only: readonly string[]): string =>
  [
    `Write one JSON object with ${nameKeys(sectionsOf(only))}.`,
    ...sectionsOf(only).flatMap((section) => askForPieces(only, section)),
  ].join(' ');

/** What is asked for of one section, where not all of it is. */
function askForPieces(only: readonly string[], section: string): string[] {
  const pieces = piecesOf(only, section);
  if (pieces.length === 0) return [];
  const isGuidance = section === GUIDANCE_SECTION;
  const what = `${isGuidance ? 'the entries for ' : ''}${pieces.join(', ')}`;
  const inner = isGuidance
    ? pieces.flatMap((entry) => {
        const keys = piecesOf(only, entryPortion(entry));
        return keys.length === 0 ? [] : [`In that for ${entry}, write ${keys.join(', ')} alone.`];
      })
    : [];
  return [`In \`${section}\`, write ${what} alone.`, ...inner];
}

const nameKeys = (keys: readonly string[]): string =>
  `${keys.length === 1 ? 'this key' : 'these keys'} alone: ${keys.join(', ')}`;
