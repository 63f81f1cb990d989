import type { Piece } from './piece-reader.ts';
import { toTerms } from './segments.ts';

/** What a sentence shows about itself; empty where it does not. */
export type Traits = {
  readonly name: string;
  readonly figure: string;
  readonly actor: string;
  /** A word such as `always` or `real-time` that allows no exception. */
  readonly absolute: string;
  readonly money: boolean;
  readonly requirement: boolean;
  readonly risk: boolean;
  readonly question: boolean;
};

/** A sentence as material: taken apart once, used many times. */
export type Statement = {
  /** As it stands, ending in a stop, with its citation markers. */
  readonly text: string;
  /** What it says without markers and stop; of a quotation with a remark, the quotation. */
  readonly core: string;
  /** The remark on a quotation: `gives no figure`. */
  readonly remark: string;
  readonly title: string;
  readonly cites: readonly string[];
  readonly terms: readonly string[];
  /** Keys of the headings that it stood under. */
  readonly sections: readonly string[];
  readonly traits: Traits;
};

const MARKER = /\s*\[(S\d+(?:\.e\d+)?(?:\s*[,;]\s*S\d+(?:\.e\d+)?)*)\]/g;
const QUOTED = /“([^“”]{12,})”|(?<=^|\s)\*([^*]{12,})\*(?=\s|$)/;
const ID_IN_TEXT = /\s*\((?:R|[A-Z]{2,4}-?)\d+(?:, (?:R|[A-Z]{2,4}-?)\d+)*\)/g;
const END = /[.!?。！？…؟।]["”’)\]]*$/u;

const known = new WeakMap<Piece, Statement>();

/** The statement of a piece; `sections` are its headings in the form of keys. */
export function toStatement(piece: Piece, sections: readonly string[]): Statement {
  const before = known.get(piece);
  if (before) return before;
  const statement = makeStatement(piece.text, sections);
  known.set(piece, statement);
  return statement;
}

/** A statement from text that has no piece of its own. */
export function makeStatement(given: string, sections: readonly string[] = []): Statement {
  const cites = [...given.matchAll(MARKER)].map((match) => match[0].trim());
  const bare = given
    .replace(MARKER, '')
    .replace(/\s+([.,;:!?])/g, '$1')
    .trim();
  const quote = QUOTED.exec(bare);
  const inner = quote?.[1] ?? quote?.[2];
  const core = trimStop(inner ?? bare);
  const remark = quote ? readRemark(bare, quote) : '';
  return {
    text: END.test(bare) ? joinCites(bare, cites) : `${joinCites(`${bare}.`, cites)}`,
    core,
    remark,
    title: toTitle(core),
    cites,
    terms: [...new Set(toTerms(core))],
    sections,
    traits: findTraits(core),
  };
}

/** Markers stand before the stop, as the citation rules have it. */
export const joinCites = (text: string, cites: readonly string[]): string =>
  cites.length === 0 ? text : text.replace(/([.!?。！？…]*)$/u, ` ${cites.join(' ')}$1`);

const trimStop = (text: string): string => text.replace(/[\s.:;,。]+$/u, '').trim();

function readRemark(text: string, quote: RegExpExecArray): string {
  const rest = text.slice(quote.index + quote[0].length).replace(ID_IN_TEXT, '');
  const remark = trimStop(rest).replace(/^[\s,:;–—-]+/, '');
  return quote.index < 3 && /^[a-z]/.test(remark) ? remark : '';
}

const LEAD =
  /^(?:(?:and|but|also|then|so|finally|first|second|ideally|please)\b[\s,]*)*(?:.{0,60}?\b(?:must|shall|should|needs? to|ha(?:s|ve) to|wants? to|would like to|will|can|is able to|are able to)\s+(?:also\s+|be able to\s+)?)?/i;
const ARTICLE = /^(?:the|a|an|to|that|we|it|there is|there are|i want|we want|i need|we need)\s+/i;
const LONGEST_TITLE = 64;

/** A short name for what a sentence is about: what comes behind the modal verb, cut at a break. */
export function toTitle(core: string): string {
  const behind = core.replace(/^(?:R|[A-Z]{2,4}-?)\d+[:.)\s–-]+/, '').replace(LEAD, '');
  const bare = (behind.length > 8 ? behind : core).replace(ARTICLE, '').replace(/^be /, '');
  const clause = /^.{16,}?(?=[,;:(–—]|\s(?:so that|because|while|which|when|where|if)\s)/u.exec(
    bare,
  );
  const text = shorten(clause?.[0] ?? bare, LONGEST_TITLE);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Cuts at a word, and not behind a word that wants another. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text.trim();
  const cut = text.slice(0, longest + 1).replace(/[\s,;:]+\S*$/u, '');
  const whole =
    cut.length < longest / 3
      ? Array.from(text)
          .slice(0, longest / 2)
          .join('')
      : cut;
  return whole.replace(
    /(?:\s(?:and|or|of|the|a|an|to|with|for|in|on|at|by|from|that|is|are))+$/i,
    '',
  );
}

const NAME =
  /(?<![.!?:“”]\s)(?<=\S\s)(?:\p{Lu}[\p{L}\p{N}+#]*(?:[.-]\p{L}+)?)(?:\s\p{Lu}[\p{L}\p{N}+#]+)*|\b(?:\p{Lu}{2,}\p{N}*|\p{Lu}\p{Ll}+\p{Lu}\p{L}+)\b(?:\s\p{Lu}[\p{L}\p{N}]+)*/gu;
const NO_NAME =
  /^(?:I|A|R\d+|The|This|That|It|We|They|You|If|When|No|Not|And|Or|But|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July|August|September|October|November|December|MUST|SHALL|SHOULD|NOT|TODO|NB|OK)$/;
const FIGURE =
  /(?<![\p{L}\p{N}.])(?:[$€£¥]\s?\d[\d.,]*\d|[$€£¥]\s?\d|\d[\d.,]*\d|\d)(?:\s?%|\s?[€$£]|\s?[kKM]\b|[-\s]\p{L}{2,})?/u;
const ACTOR =
  /\b(users?|customers?|clients?|visitors?|members?|staff|employees?|admins?|administrators?|managers?|owners?|operators?|teams?|developers?|engineers?|drivers?|patients?|doctors?|nurses?|teachers?|students?|parents?|buyers?|sellers?|vendors?|suppliers?|guests?|editors?|agents?|analysts?|volunteers?|residents?|tenants?|subscribers?|players?|shoppers?|bakers?|cooks?|accountants?|authors?|reviewers?|technicians?|dispatchers?|couriers?|auditors?|regulators?|citizens?|donors?|farmers?|mechanics?|librarians?|readers?|borrowers?)\b/i;
const ABSOLUTE =
  /\b(always|never|all|every|any time|instantly|immediately|real[- ]time|zero|none|100\s?%|24\/7|guarantee[ds]?|fully|completely|seamless(?:ly)?|unlimited)\b/i;
const REQUIREMENT =
  /\b(must|shall|should|needs?|has to|have to|required?|requires|wants?|would like|can|will|allows?|supports?|lets?|enables?|able to|never|only|at (?:least|most)|within|no more than)\b/i;
const IMPERATIVE =
  /^(?:build|create|add|show|send|support|provide|integrate|use|track|allow|make|design|implement|store|sync|let|keep|give|write|run|offer|include|connect|notify|record|plan|replace|migrate|automate|display|import|export|publish|set|print|help|avoid|do not|don't)\b/i;
const RISK =
  /\b(risks?|fail\w*|outages?|down|delays?|lost|loses?|breach\w*|attacks?|uncertain\w*|unknown|unclear|conflicts?|lacks?|missing|fraud|errors?|late|penalt\w+|threats?|break\w*|waste\w*|complain\w*|slow\w*|wrong|depends? on)\b/i;
const MONEY =
  /[$€£¥]\s?\d|\d\s?(?:€|\$|£|EUR|USD|GBP|dollars?|euros?|pounds?)\b|\b(?:budget|cost|price|fee)s?\b/i;

function findTraits(core: string): Traits {
  return {
    name: findNames(core)[0] ?? '',
    figure: FIGURE.exec(core)?.[0].replace(/-/, ' ') ?? '',
    actor: ACTOR.exec(core)?.[0].toLowerCase() ?? '',
    absolute: ABSOLUTE.exec(core)?.[0].toLowerCase() ?? '',
    money: MONEY.test(core),
    requirement: REQUIREMENT.test(core) || IMPERATIVE.test(core),
    risk: RISK.test(core),
    question: /[?？؟]\s*$/u.test(core),
  };
}

/** Proper names and abbreviations in the order in which they stand. */
export function findNames(core: string): string[] {
  return [...core.matchAll(NAME)].map((match) => match[0]).filter((name) => !NO_NAME.test(name));
}
