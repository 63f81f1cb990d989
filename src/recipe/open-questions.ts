import { isRecord } from '../text/is-record.ts';
import { humanise, isBlank, titleOf, toWords } from '../text/markdown-blocks.ts';
import type { ContractNode } from './types.ts';

/** A question that the document leaves to people, and the part of it that asks. */
export type OpenQuestion = {
  readonly question: string;
  readonly where: readonly string[];
  /** What the document works with until there is an answer; null where it does not say. */
  readonly assumption: string | null;
};

const ASKS = /^(open|unresolved)_(questions?|issues?|decisions?|points?)$/;
const QUESTION_KEY = /(^|_)(question|issue|decision|point|title|name)$/;
const ASSUMPTION_KEY = /(^|_)(assumptions?|assumed|default|until_then)$/;
/** What announces an assumption; what must stand before it, see `endOfQuestion`. */
const ASSUMPTION =
  /[*_]{0,2}(?:(?:working )?assumption|assumed|until then|default)(?: until then)?\s*:[*_]{0,2}\s*/gi;
const NOTHING = /^(?:_?none_?|nothing|n\/?a|no open questions?)[.\s]*$/i;

/**
 * Finds what is open anywhere in a document, in the order in which it stands there: sections that
 * the contract marks with `x-asks`, or whose name says so (`open_questions`).
 */
export function gatherOpenQuestions(value: unknown, contract?: ContractNode): OpenQuestion[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) =>
      placeIn(
        () => (isRecord(item) && titleOf(item)) || `${index + 1}`,
        gatherOpenQuestions(item, contract?.items),
      ),
    );
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const known = contract?.properties ?? {};
    const node = Object.hasOwn(known, key) ? known[key] : undefined;
    if (!(node?.['x-asks'] ?? ASKS.test(key))) {
      return placeIn(() => humanise(key), gatherOpenQuestions(child, node));
    }
    const asked = Array.isArray(child) ? child : splitText(child);
    return asked
      .filter((one) => !isBlank(one) && !NOTHING.test(toWords(one).trim()))
      .map((one) => ({ ...readQuestion(one), where: [] }));
  });
}

/** Questions with the part around them; most parts ask nothing, and then need no name. */
function placeIn(name: () => string, questions: OpenQuestion[]): OpenQuestion[] {
  if (questions.length === 0) return questions;
  const part = name();
  return questions.map((one) => ({ ...one, where: [part, ...one.where] }));
}

function readQuestion(asked: unknown): Omit<OpenQuestion, 'where'> {
  if (!isRecord(asked)) return readText(toWords(asked));
  const fields = Object.entries(asked).filter(([, value]) => !isBlank(value));
  const question = fields.find(([key]) => QUESTION_KEY.test(key));
  const assumption = fields.find(([key]) => ASSUMPTION_KEY.test(key));
  if (!question) return readText(toWords(asked));
  return {
    question: oneLine(toWords(question[1])),
    assumption: assumption ? oneLine(toWords(assumption[1])) : null,
  };
}

function readText(text: string): Omit<OpenQuestion, 'where'> {
  const whole = text.trim();
  const { end, start } = findTurn(whole);
  const question = oneLine(whole.slice(0, end));
  const assumed = oneLine(whole.slice(start));
  // What ends with the question mark is the rest of the question: "by default: dark or light?"
  const isAsked = assumed.endsWith('?') && !question.includes('?');
  if (question === '' || isAsked) return { question: oneLine(whole), assumption: null };
  return { question, assumption: assumed.replace(/\)$/, '') || null };
}

/** Where a text turns from the question to what is assumed meanwhile; its end where it does not. */
function findTurn(text: string): { readonly end: number; readonly start: number } {
  for (const found of text.matchAll(ASSUMPTION)) {
    const end = endOfQuestion(text.slice(0, found.index));
    if (end !== null) return { end, start: found.index + found[0].length };
  }
  return { end: text.length, start: text.length };
}

/**
 * How long the question is that stands before an assumption: up to the end of a sentence, a
 * bracket, a comma, a dash or a line. Null where the sentence goes on: "the default:" within it is
 * part of the question.
 */
function endOfQuestion(before: string): number | null {
  const said = before.trimEnd();
  const last = said.at(-1) ?? '';
  if (/[(;,.–—]/.test(last)) {
    let end = said.length;
    while (end > 0 && /[\s(;,.–—]/.test(said[end - 1]!)) end -= 1;
    return end;
  }
  if (/[?!]/.test(last)) return said.length;
  if (last === '-' && said !== before && /\s/.test(said.at(-2) ?? '')) {
    return said.slice(0, -1).trimEnd().length;
  }
  return before.includes('\n', said.length) ? said.length : null;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const BULLET = /^\s{0,3}(?:[-*+]|\d+[.)])\s+/;

/** Several questions in one text: its list items, else its paragraphs, else what each `?` ends. */
function splitText(value: unknown): unknown[] {
  if (typeof value !== 'string') return [value];
  const lines = value.split('\n').filter((line) => !/^\s*#/.test(line));
  if (lines.some((line) => BULLET.test(line))) {
    const items: string[] = [];
    for (const line of lines) {
      if (BULLET.test(line)) items.push(line.replace(BULLET, ''));
      else if (items.length > 0) items.push(`${items.pop()} ${line}`);
    }
    return items;
  }
  return lines
    .join('\n')
    .split(/\n\s*\n/)
    .flatMap(splitSentences);
}

/** A question with the sentences that follow it, up to the next question. */
function splitSentences(paragraph: string): string[] {
  const groups: string[] = [];
  for (const sentence of paragraph.split(/(?<=[.?!])\s+/)) {
    const last = groups.at(-1);
    const begins = sentence.endsWith('?') || last === undefined;
    if (begins) groups.push(sentence);
    else groups.push(`${groups.pop()} ${sentence}`);
  }
  return groups;
}

/** Two documents ask the same where this is the same: letters and digits up to the first `?`. */
export const questionKey = (question: string): string =>
  lettersOf(question.split('?')[0]!) || lettersOf(question) || question;

const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
