import { ACTOR, anyOf } from './vocabulary.ts';

/** Things that everything is about. */
const THING = anyOf(`
  system, site, website, app, application, product, tool, platform, service, software, person
  shop, company`).source;
/** Who or what may be left out of a name. */
const AGENT = [
  anyOf('we, i, it, they, you, people, everyone').source,
  String.raw`(?:the\s+|our\s+|a\s+|an\s+|each\s+|every\s+)?${ACTOR.source}`,
  String.raw`(?:the|our|this|a|an|each|every)\s+(?:\p{L}+\s)?${THING}`,
].join('|');
const MODAL = anyOf(`
  must, shall, should, can, could, will, may, needs? to, has to, have to, wants? to, would like to
  (?:is|are) able to`).source;
const OPENING = anyOf(`
  and, but, also, then, so, finally, first, later, ideally, please, today, currently`).source;
const LEAD = new RegExp(
  String.raw`^(?:${OPENING}[\s,]*)*` +
    String.raw`(?:(?:${AGENT})\s+${MODAL}\s+(?:also\s+|be able to\s+)?` +
    String.raw`|(?:we|i)\s+(?:want|need|require|plan)\s+)?`,
  'iu',
);
/** `Build an app that lets …` */
const PRODUCT = new RegExp(
  String.raw`^(?:build|create|develop|make|design|write|set up)\s+(?:me\s+|us\s+)?(?:a|an|the)\s+` +
    String.raw`(?:[\w-]+\s+){1,3}?(?:that|which|where|so that)\s+` +
    String.raw`(?:(?:lets?|allows?|helps?|enables?)\s+)?`,
  'i',
);
const PASSIVE = new RegExp(String.raw`^((?:\S+\s){1,5}?)${MODAL}\s+be\s+`, 'iu');
const ASKS = new RegExp(String.raw`${MODAL}\s|\b(?:wants?|needs?|requires?)\s`, 'iu');
const ARTICLE = /^(?:the|a|an|to|that|our|be|there (?:is|are))\s+/i;
const BREAK_WORD = anyOf(
  'so that, because, while, which, when, where, if, after, before, and',
).source;
const BREAK = new RegExp(String.raw`^.{12,}?(?=[,;:(–—]\s|\s${BREAK_WORD}\s)`, 'u');
const DANGLING = /^\s(?:and|or|of|the|a|an|to|with|for|in|on|at|by|from|that|is|are|our)$/i;
const LONGEST = 52;

/** A short name for what a sentence is about: what comes behind the modal verb, up to a break. */
export function toTitle(core: string): string {
  const bare = core.replace(/^(?:R|[A-Z]{2,4}-?)\d+[:.)\s–-]+/, '');
  const clauses = bare.split(/[;:,]\s+(?:and\s+|but\s+)?/);
  const clause = clauses.find((one) => ASKS.test(one) && one.length > 12) ?? bare;
  const behind = clause.replace(PRODUCT, '').replace(LEAD, '').replace(PASSIVE, '$1');
  const named = (behind.length > 4 ? behind : clause).replace(ARTICLE, '');
  return capitalise(shorten(BREAK.exec(named)?.[0] ?? named, LONGEST));
}

export const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Without the last word and the signs before it; a text of one word ends at its first sign. */
function cutAtWord(text: string): string {
  const space = text.search(/\s\S*$/u);
  if (space < 0) return text.split(/[,;:]/u, 1)[0]!;
  return text.slice(0, space + 1).replace(/(?<![\s,;:])[\s,;:]+$/u, '');
}

/** Cuts at a word, and not behind a word that wants another. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text.trim();
  const cut = cutAtWord(text.slice(0, longest + 1));
  const whole =
    cut.length < longest / 3
      ? Array.from(text)
          .slice(0, longest / 2)
          .join('')
      : cut;
  const words = whole.split(/(?=\s)/);
  while (DANGLING.test(words.at(-1) ?? '')) words.pop();
  return words.join('');
}
