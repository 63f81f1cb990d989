import MarkdownIt, { type MarkdownIt as Parser, type StateInline, type Token } from 'markdown-it';
import { withoutControls } from './clean-text.ts';
import { readTablesLate } from './late-tables.ts';

/** A part of a text that is code, from its first character to behind its last one. */
type Range = readonly [start: number, end: number];

/** The ranges of code spans in the inline text that is being parsed; one parse at a time. */
let spans: Range[] = [];

const parser = createParser();

/**
 * Tables as on GitHub. HTML and images are off, since both are text after `makeInert`; where code
 * begins and ends must be read as it will be then.
 */
function createParser(): Parser {
  const made = new MarkdownIt({ html: false }).disable(['image']);
  readTablesLate(made);
  const backticks = takeBackticks();
  made.inline.ruler.at('backticks', (state: StateInline, silent: boolean) => {
    const { pos } = state;
    const length = state.tokens.length;
    const found = backticks(state, silent);
    const isSpan = found && !silent && state.tokens.length > length;
    if (isSpan && state.tokens.at(-1)?.type === 'code_inline') spans.push([pos, state.pos]);
    return found;
  });
  return made;
}

/** The parser's own rule for code spans. */
function takeBackticks() {
  const { inline } = new MarkdownIt();
  inline.ruler.enableOnly(['backticks']);
  return inline.ruler.getRules('')[0]!;
}

function parseBlocks(text: string): Token[] {
  const tokens: Token[] = [];
  parser.block.parse(text, parser, {}, tokens);
  return tokens;
}

/** A fenced block: its lines, the last one excluded, and how deep in lists and quotes it stands. */
export type Fence = {
  readonly start: number;
  readonly end: number;
  readonly markup: string;
  readonly level: number;
};

/** A line that may open a fenced block: before it stand only the marks of lists and quotes. */
const MAY_OPEN_FENCE = /^[ \t>*+\-\d.)]*(?:```|~~~)/m;

/**
 * The fenced blocks of a text, those within lists and quotes included. The text is parsed only where
 * a line may open one: a page of 100 kB takes some milliseconds.
 */
export const findFences = (text: string): Fence[] =>
  (text.includes('```') || text.includes('~~~')) && MAY_OPEN_FENCE.test(text)
    ? parseBlocks(text)
        .filter(({ type }) => type === 'fence')
        .map(({ map, markup, level }) => ({ start: map![0], end: map![1], markup, level }))
    : [];

const MOST_ROUNDS = 5;

/**
 * The same Markdown with nothing in it that a viewer would run, load or follow to anything but a
 * page: HTML shows as text, images become links, links of other kinds become text. What holds none
 * of these comes back as it is, and so does code. Text that gets a new meaning whenever something
 * in it is made text loses all its marks instead.
 */
export const makeInert = (text: string): string => makePlainInert(withoutControls(text));

/** The same for a text that was cleaned by `withoutControls`. */
export const makePlainInert = (plain: string): string =>
  settle(plain, plain.includes('`') || plain.includes('~~~') ? findCode : () => []);

/** The same for a cleaned text that stands within a line, where nothing can be a block. */
export const makePlainInlineInert = (plain: string): string => settle(plain, spansOf);

function settle(text: string, findRanges: (text: string) => Range[]): string {
  let current = text;
  if (escapePart(current) === current) return current;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const next = escapeOutside(current, findRanges(current));
    if (next === current) return current;
    current = next;
  }
  return text.replace(/[\\`*_{}[\]<>()#+.!|~&-]/g, '\\$&');
}

function escapeOutside(text: string, code: readonly Range[]): string {
  let result = '';
  let from = 0;
  for (const [start, end] of code) {
    result += escapePart(text.slice(from, start)) + text.slice(start, end);
    from = end;
  }
  return result + escapePart(text.slice(from));
}

const TAG = /<(?=[a-zA-Z/!?])(?!https?:\/\/[^\s<>]{1,2000}>|mailto:[^\s<>]{1,2000}>)/g;
const IMAGE = /(?<!\\)((?:\\\\)*)!(?=\[)/g;
/** Where a link or a definition names its target; so much of it as tells its kind. */
const TARGET = /(?<!\\)((?:\\\\)*)\](?=[(:]\s{0,20}<?([^\s)>]{0,80}))/g;

/** Most texts hold none of the three, which a search tells sooner than an expression. */
function escapePart(text: string): string {
  const tagged = text.includes('<') ? text.replace(TAG, '&lt;') : text;
  const linked = tagged.includes('![') ? tagged.replace(IMAGE, '$1\\!') : tagged;
  return linked.includes('](') || linked.includes(']:')
    ? linked.replace(TARGET, (whole, slashes: string, target: string) =>
        isAllowed(target) ? whole : `${slashes}\\]`,
      )
    : linked;
}

const LONGEST_TARGET = 80;

/** Pages, addresses and files of the folder; a scheme may be hidden by entities and blanks. */
function isAllowed(target: string): boolean {
  const plain = parser.utils
    .unescapeAll(target)
    // Browsers pass over these in an address.
    .replace(/[\p{Cc} ]/gu, '');
  if (/^[/\\]{2}/.test(plain)) return false;
  const end = /[:/?#]/.exec(plain);
  if (end === null) return target.length < LONGEST_TARGET;
  return end[0] !== ':' || /^(?:https?|mailto)$/i.test(plain.slice(0, end.index));
}

/** The code spans of a text within a line. */
function findSpans(text: string): Range[] {
  spans = [];
  parser.parseInline(text, {});
  return spans;
}

/** Fenced blocks as a whole, and code spans, in the order of the text. */
function findCode(text: string): Range[] {
  const lines = text.split('\n');
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  starts.push(at);
  const found: Range[] = [];
  const source = { lines, starts, line: 0, column: 0 };
  for (const token of parseBlocks(text)) {
    const isFence = token.type === 'fence';
    // With a bar behind its fence, some viewers take the block for a table, and nothing for code.
    if (isFence && token.info.includes('|')) continue;
    if (isFence) found.push([starts[token.map![0]]!, starts[token.map![1]]!]);
    else if (token.type === 'tr_open') Object.assign(source, { line: token.map![0], column: 0 });
    else if (token.type === 'inline') found.push(...placeSpans(token, source));
  }
  return found.map(([start, end]) => [start, Math.min(end, text.length)] as const);
}

type Source = {
  readonly lines: readonly string[];
  readonly starts: readonly number[];
  /** The row of a table that is being read, and the place behind the cell that was read last. */
  line: number;
  column: number;
};

/**
 * Code spans at their places in the text. The parser gives inline text without the indentation and
 * marks of its lines, and cells without the backslashes before their bars; a span whose place is
 * not found counts as no code, which is the safe side.
 */
function placeSpans(token: Token, source: Source): Range[] {
  if (token.map) {
    // A block of HTML may begin with any line, also one that a code span has reached.
    const own = spansOf(token.content).filter(
      ([from, to]) => !/\n[ \t]*</.test(token.content.slice(from, to)),
    );
    return own.length === 0 ? [] : placeInLines(token.content, own, token.map[0], source);
  }
  const cell = token.content.replaceAll('|', '\\|');
  const column = source.lines[source.line]?.indexOf(cell, source.column) ?? -1;
  if (column < 0) return [];
  source.column = column + cell.length;
  const start = source.starts[source.line]! + column;
  return spansOf(cell).map(([from, to]) => [start + from, start + to] as const);
}

const spansOf = (content: string): Range[] => (content.includes('`') ? findSpans(content) : []);

function placeInLines(
  content: string,
  own: readonly Range[],
  first: number,
  { lines, starts }: Source,
): Range[] {
  const places: { readonly at: number; readonly offset: number }[] = [];
  let at = 0;
  for (const [index, part] of content.split('\n').entries()) {
    const column = lines[first + index]?.lastIndexOf(part) ?? -1;
    if (column < 0) return [];
    places.push({ at, offset: starts[first + index]! + column });
    at += part.length + 1;
  }
  let line = 0;
  const place = (position: number): number => {
    while (line + 1 < places.length && places[line + 1]!.at <= position) line += 1;
    return places[line]!.offset + position - places[line]!.at;
  };
  return own.map(([from, to]) => [place(from), place(to - 1) + 1] as const);
}
