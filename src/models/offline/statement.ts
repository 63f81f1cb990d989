import type { Piece } from './piece-reader.ts';
import { toTerms } from './segments.ts';
import { capitalise, toTitle } from './title.ts';
import {
  ABSOLUTE,
  ACTOR,
  anyOf,
  BOUND,
  DEMAND,
  FIGURE,
  LATER,
  LIMIT,
  ORDER,
  RISK,
} from './vocabulary.ts';

/** What a sentence shows about itself; empty where it does not. */
type Traits = {
  readonly figure: string;
  readonly actor: string;
  /** A word such as `always` or `real-time` that allows no exception. */
  readonly absolute: string;
  readonly risk: boolean;
  readonly question: boolean;
};

/**
 * What a sentence is in a plan: something to do, now or later; a bound to keep; how things are; a
 * sentence that an offline author made about something that it names; a bare score.
 */
export type Role = 'task' | 'limit' | 'later' | 'context' | 'made' | 'score';

/** A sentence as material: taken apart once, used many times. */
export type Statement = {
  /** As it stands, ending in a stop, with its citation markers. */
  readonly text: string;
  /** What it says without markers and stop; of a quotation with a remark, the quotation. */
  readonly core: string;
  /** The remark on a quotation: `gives no figure`. */
  readonly remark: string;
  /** Whether it judges a quotation, for or against. */
  readonly verdict: boolean;
  readonly title: string;
  readonly cites: readonly string[];
  readonly terms: readonly string[];
  readonly termSet: ReadonlySet<string>;
  /** Keys of the headings that it stood under. */
  readonly sections: readonly string[];
  readonly role: Role;
  readonly traits: Traits;
};

const MARKER = /(?:(?<!\s)\s+)?\[(S\d+(?:\.e\d+)?(?:\s*[,;]\s*S\d+(?:\.e\d+)?)*)\]/g;
const QUOTED = /“([^“”]{12,})”|(?<=^|\s)\*([^*]{12,})\*(?=[\s.,;:)]|$)/;
const ID_IN_TEXT = /(?:(?<!\s)\s+)?\((?:R|[A-Z]{2,4}-?)\d+(?:, (?:R|[A-Z]{2,4}-?)\d+)*\)/g;
/** How our own sentences name what they are about. */
const SHORT_NAME = /‘([^‘’]{3,80})’(?!\p{L})/u;
const END = /[.!?。！？…؟।]["”’)\]]*$/u;

/** Of a made sentence only what it names counts; its other words are always the same. */
const subjectsOf = (core: string): string => (core.match(/‘[^‘’]+’/g) ?? []).join(' ');

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
    .replace(/(?<!\s)\s+([.,;:!?])/g, '$1')
    .trim();
  const quote = QUOTED.exec(bare);
  const inner = quote?.[1] ?? quote?.[2];
  const core = trimStop(inner ?? bare);
  const remark = quote ? readRemark(bare, quote) : '';
  const about = SHORT_NAME.exec(core)?.[1];
  const termSet = new Set(toTerms(about ? subjectsOf(core) : core));
  return {
    text: withStop(given.trim(), END.test(bare)),
    core,
    remark,
    verdict: quote !== null && quote.index < 3,
    title: about ? capitalise(about) : toTitle(core),
    cites,
    terms: [...termSet],
    termSet,
    sections,
    role: about ? 'made' : findRole(core),
    traits: findTraits(core),
  };
}

/** Markers stay where they stood; a sentence without a stop gets one. */
const withStop = (text: string, ended: boolean): string => (ended ? text : `${text}.`);

/** Markers stand before the stop, as the citation rules have it. */
export const joinCites = (text: string, cites: readonly string[]): string =>
  cites.length === 0
    ? text
    : text.replace(/(?<![.!?。！？…])([.!?。！？…]*)$/u, ` ${cites.join(' ')}$1`);

const trimStop = (text: string): string => text.replace(/(?<![\s.:;,。])[\s.:;,。]+$/u, '').trim();

/** Remarks that object to nothing. */
const PRAISE = new RegExp(
  `^${
    anyOf(`
  is (?:what|asked|concrete|kept|something), stays, takes, names (?!nobody), says, can be, builds
  holds`).source
  }`,
);

function readRemark(text: string, quote: RegExpExecArray): string {
  const rest = text.slice(quote.index + quote[0].length).replace(ID_IN_TEXT, '');
  const bare = rest.replace(/^\s*\([^)]*\)/, '').replace(/, says [^,]*$/, '');
  const remark = trimStop(bare).replace(/^[\s,:;–—-]+/, '');
  return quote.index < 3 && /^[a-z]/.test(remark) && !PRAISE.test(remark) ? remark : '';
}

/** What a sentence is in a plan. */
function findRole(core: string): Role {
  if (SCORE.test(core)) return 'score';
  if (LATER.test(core)) return 'later';
  if (LIMIT.test(core)) return 'limit';
  if (DEMAND.test(core) || ORDER.test(core)) return 'task';
  return BOUND.test(core) ? 'limit' : 'context';
}

/** `cost, score: 3` of a document in JSON. */
const SCORE = /^[\w ,-]+: -?\d+(?:\.\d+)?$/;

/** The first number that is not the number of a year. */
function findFigure(core: string): string {
  for (const [figure] of core.matchAll(FIGURE)) {
    if (!/^(?:19|20)\d\d$/.test(figure)) return figure.replace(/-/, ' ');
  }
  return '';
}

function findTraits(core: string): Traits {
  return {
    figure: findFigure(core),
    actor: ACTOR.exec(core)?.[0].toLowerCase() ?? '',
    absolute: ABSOLUTE.exec(core)?.[0].toLowerCase() ?? '',
    risk: RISK.test(core),
    question: /[?？؟]\s*$/u.test(core),
  };
}
