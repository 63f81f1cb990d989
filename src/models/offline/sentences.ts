import { splitParagraphs } from '../../text/split-paragraphs.ts';
import { finishSentence } from '../../text/whole-sentence.ts';
import { cutAt } from './cut.ts';
import { withoutNotice } from './notice.ts';

/** Of one text no more is read, so that a call costs little however long its inputs are. */
const MOST_CHARS = 20_000;
const MOST_SENTENCES = 24;

/** A citation such as `[S4]` or `[S4.e2]`. */
export const CITATION = /\s?\[S\d[^\]\n]{0,200}\]/g;
const CITED_BEHIND = /([.!?])((?: ?\[S\d[^\]]{0,200}\])+)/g;
/** What a template or the author puts in front: `Evidence: `, `F3 (heavy) `, `This counts too: `. */
const LABEL = /^(?:[\p{L}\p{N} ()]{1,40}: |[A-Z]{1,3}\d{1,3}[:.]?\s(?:\(\w+\)\s)?)+/u;
const LIST_OF_IDS = /\b[A-Z]{1,3}\d{1,3}, [A-Z]{1,3}\d{1,3}\b/;

/** The first sentences of a Markdown text in its order, those of lists with a full stop. */
export const readSentences = (text: string): string[] => readAll(text).map(finishSentence);

const readAll = (text: string): string[] =>
  splitParagraphs(cutAt(text, MOST_CHARS))
    .flatMap((paragraph) => splitParagraph(withoutNotice(paragraph)))
    .filter(isTelling)
    .slice(0, MOST_SENTENCES);

/** The sentences of a document, without the labels and ids that templates put in front. */
export const readDocument = (text: string): string[] =>
  readAll(text.trimStart().startsWith('{') ? readValues(text) : text)
    .filter((sentence) => /[.!?…。！？]$/.test(sentence) && !LIST_OF_IDS.test(sentence))
    .filter((one) => !/[.?][;,]/.test(one) && !(one.endsWith('?') && one.includes(': ')))
    .map((sentence) => sentence.replace(LABEL, ''))
    .filter(isTelling)
    .map(finishSentence);

/** The texts of a JSON document, which stand between quotation marks and are no keys. */
const readValues = (text: string): string =>
  (cutAt(text, MOST_CHARS).match(/"(?:[^"\\\n]|\\.)*"(?!:)/g) ?? [])
    .map((value) => value.slice(1, -1).replaceAll('\\n', '\n').replace(/\\(.)/g, '$1'))
    .join('\n\n');

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
