import { countNoun } from './count-noun.ts';
import { splitParagraphs } from './split-paragraphs.ts';

/** How the prose of a text is written. */
export type Style = {
  readonly sentences: number;
  /** Words of a sentence on average. */
  readonly averageWords: number;
  /** The share of sentences without a verb; null where the text is not in English. */
  readonly fragments: number | null;
};

/** Fewer sentences say nothing about a style. */
const FEWEST = 10;
/** A shorter entry of a list or line of a paragraph is a value: a name, a date, a price. */
const SHORTEST = 5;
/** The share of its commonest words that an English text has at the least; telegrams have fewer. */
const ENGLISH = 0.06;
const COMMON = new Set(
  'the a an of to and in is are for it that with on by as be at not'.split(' '),
);

/** Verbs in forms of their own, and negations that hold one. */
const VERBS = new Set(
  (
    "am is are was were be been being isn't aren't wasn't weren't has have had hasn't haven't do " +
    "does did don't doesn't didn't can could can't cannot couldn't will would won't wouldn't shall " +
    "should shouldn't may might must mustn't it's that's there's they're you're we're i'm let's " +
    'became began begins bought breaks built came chose costs cuts drew fell felt found gave gets ' +
    'goes got grew held kept knew led left lay lost made meant met paid puts ran read rose said saw ' +
    'sent sets spent stood stuck sold taken told took went wins won wrote lies lets'
  ).split(' '),
);
/** Stems of verbs that planning documents use; each also with s, es and ies. */
const STEMS = (
  'accept act add agree allow answer appear apply approve arrive ask assume avoid bake be become ' +
  'begin belong block break bring build buy call cancel carry catch change charge check choose ' +
  'close collect come compare complete compute confirm connect contain continue copy cost count cover ' +
  'create cut deal decide delay delete deliver depend describe differ disappear do draw drop earn ' +
  'edit end enter exceed exist expect explain export fail fall fetch fill find finish fit fix ' +
  'follow forget freeze get give go grow guard handle hang happen have help hide hold hope import include ' +
  'inform install join keep know lack last lead learn leave let lie limit link list live load lock ' +
  'log look lose make manage matter mean measure meet mend mention miss move name need note offer ' +
  'open order owe own pass pay phone pick place plan point post prevent print promise protect prove ' +
  'provide publish push put raise reach read receive record refuse remain remove repair repeat ' +
  'replace reply report request require reserve rest restart restore return review rise run save ' +
  'say scan see seem sell send serve set share show sign sit speak spend stand start state stay ' +
  'stop store sum supply support switch take talk tell test think touch trust try turn type ' +
  'understand update use verify visit wait walk want warn watch weigh win work write'
).split(' ');
const FORMS = new Set(
  STEMS.flatMap((stem) => [stem, `${stem}s`, `${stem}es`, stem.replace(/([^aeou])y$/, '$1ies')]),
);

const BEFORE_NOUNS = new Set(
  'a an the no this these those each every its their our your his her my of without any'.split(' '),
);

/** A word in the past, or a participle: lenient, since a fragment may hold one too. */
const PAST = /^\p{L}{2,}[^aeiou\W]?ed$/u;

/** With bounds, so that a text of nothing but brackets is read once. */
const LINK_OR_CITATION = /\[[^\][]{1,200}\]\([^()\s]{1,500}\)|\[\^?\w{1,20}(?:\.\w{1,20})?\]/g;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * How the paragraphs and points of a Markdown text are written; tables, headings, code and short
 * entries are left out. A rough measure: verbs are known by lists, so that a sentence with a rare
 * one counts as a fragment. Null where there is too little prose.
 */
export function measureStyle(markdown: string): Style | null {
  const prose = markdown.replace(/^[^\S\n]*\|.*$/gm, '');
  const sentences = splitParagraphs(prose).flatMap(splitSentences);
  if (sentences.length < FEWEST) return null;
  const words = sentences.flat();
  const common = words.filter((word) => COMMON.has(word)).length;
  const fragments = sentences.filter((sentence) => !sentence.some(isVerb)).length;
  return {
    sentences: sentences.length,
    averageWords: words.length / sentences.length,
    fragments: common / words.length < ENGLISH ? null : fragments / sentences.length,
  };
}

/** The sentences of a paragraph as lists of words, without values and labels. */
function splitSentences(paragraph: string): string[][] {
  const text = paragraph.replace(LINK_OR_CITATION, ' ');
  if (wordsOf(text).length < SHORTEST) return [];
  const parts = [...segmenter.segment(text)].map(({ segment }) => wordsOf(segment));
  return parts.filter((words) => words.length > 1);
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/\s+/)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
    .filter((word) => word !== '');

/** A form such as `plan` or `orders` is a noun behind a determiner, and before `of`. */
const isVerb = (word: string, at: number, sentence: readonly string[]): boolean =>
  VERBS.has(word) ||
  PAST.test(word) ||
  (FORMS.has(word) && !BEFORE_NOUNS.has(sentence[at - 1] ?? '') && sentence[at + 1] !== 'of');

/** `15 words a sentence, 4 % without a verb` */
export function tellStyle({ averageWords, fragments }: Style): string {
  const length = `${countNoun(Math.round(averageWords), 'word')} a sentence`;
  return fragments === null ? length : `${length}, ${Math.round(fragments * 100)} % without a verb`;
}
