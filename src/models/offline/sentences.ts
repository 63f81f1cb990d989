import { cutAt } from './cut.ts';
import { withoutNotice } from './notice.ts';

/** Of one text no more is read, so that a call costs little however long its inputs are. */
const MOST_CHARS = 20_000;
const MOST_SENTENCES = 24;
const LONGEST = 160;

/** A citation such as `[S4]` or `[S4.e2]`. */
export const CITATION = /\s?\[S\d[^\]\n]{0,200}\]/g;
const CITED_BEHIND = /([.!?])((?: ?\[S\d[^\]]{0,200}\])+)/g;
const NO_TEXT = /^(?:\s*#{1,6}\s|[|:\s-]*$)/;
const BULLET = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[.?\]\s+)?/;
/** What a template or an author puts in front: `Evidence: `, `F3 (heavy) `, `Again (2): `. */
const LABEL = /^(?:[\p{L}\p{N} ()]{1,40}: |[A-Z]{1,3}\d{1,3}[:.]?\s(?:\(\w+\)\s)?)+/u;
const LIST_OF_IDS = /\b[A-Z]{1,3}\d{1,3}, [A-Z]{1,3}\d{1,3}\b/;

/** The first sentences of a Markdown text in its order. */
export const readSentences = (text: string): string[] =>
  splitMarkdown(cutAt(text, MOST_CHARS))
    .flatMap((paragraph) => splitParagraph(withoutNotice(paragraph)))
    .filter(isTelling)
    .slice(0, MOST_SENTENCES)
    .map(shorten);

/** The sentences of a document, without the labels and ids that templates put in front. */
export const readDocument = (text: string): string[] =>
  readSentences(text.startsWith('{') ? readValues(text) : text)
    .filter((sentence) => /[.!?…。！？]$/.test(sentence) && !LIST_OF_IDS.test(sentence))
    .map((sentence) => sentence.replace(LABEL, '').replace(/^\p{Ll}/u, (a) => a.toUpperCase()))
    .filter(isTelling);

/** The texts of a JSON document, which stand between quotation marks and are no keys. */
const readValues = (text: string): string =>
  (cutAt(text, MOST_CHARS).match(/"(?:[^"\\\n]|\\.)*"(?!:)/g) ?? [])
    .map((value) => value.slice(1, -1).replaceAll('\\n', '\n').replace(/\\(.)/g, '$1'))
    .join('\n\n');

/** Paragraphs, entries of lists and cells of tables; no headings and no code. */
function splitMarkdown(text: string): string[] {
  const parts: string[] = [];
  let goesOn = false;
  for (const line of text.replace(/^```[^]*?^```/gm, '').split('\n')) {
    const bare = line.replace(BULLET, '');
    if (NO_TEXT.test(line)) goesOn = false;
    else if (line.startsWith('|')) parts.push(...line.split('|'));
    else if (goesOn && bare === line) parts.push(`${parts.pop()} ${line}`);
    else goesOn = parts.push(bare) > 0;
  }
  return parts.map((part) => part.replace(/[*`]|(?<=^|\s)_|_(?=\s|$)/g, ''));
}

/** A citation behind the full stop goes in front of it, to stay with its sentence. */
const splitParagraph = (paragraph: string): string[] =>
  paragraph
    .replace(/\s+/g, ' ')
    .trim()
    .replace(CITED_BEHIND, ' $2$1')
    .replace(/ {2,}/g, ' ')
    .split(/(?<=[.!?…]) (?=[^\p{Ll}\s(])|(?<=[。！？])/u);

/** Three words, or six characters of a script that writes without spaces. */
const isTelling = (text: string): boolean =>
  /[\p{L}\p{N}]/u.test(text) && (text.split(' ').length > 2 || /[^\x20-\x7e]{6}/.test(text));

function shorten(sentence: string): string {
  if (sentence.length <= LONGEST) return sentence;
  const start = cutAt(sentence, LONGEST);
  const cites = sentence.slice(start.length).match(CITATION) ?? [];
  return `${start.replace(/ \S*$/, '')} …${cites.join('')}`;
}
