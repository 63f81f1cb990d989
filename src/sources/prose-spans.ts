import MarkdownIt from 'markdown-it';
import { readTablesLate } from '../text/late-tables.ts';

/** A stretch of Markdown that people read as text; offsets are those of the whole document. */
export type Span = { readonly start: number; readonly end: number };

/** A paragraph, heading or cell, with the stretches of it that are neither code nor markup. */
export type Prose = Span & { readonly parts: readonly Span[]; readonly isHeading: boolean };

// Blocks alone: markdown-it tells the lines of a block, and nothing of places within a line.
const blocks = new MarkdownIt({ html: true });
blocks.core.ruler.enableOnly(['normalize', 'block']);
readTablesLate(blocks);

type BlockToken = ReturnType<InstanceType<typeof blocks.block.State>['push']>;

/** Tokens are plain objects: making them is a quarter of the work, and the parser makes slow ones. */
blocks.block.State = class extends blocks.block.State {
  override push(type: string, tag: string, nesting: BlockToken['nesting']): BlockToken {
    if (nesting < 0) this.level--;
    const token = {
      type,
      tag,
      nesting,
      level: this.level,
      map: null,
      content: '',
      children: null,
      attrs: null,
      markup: '',
      info: '',
      meta: null,
      block: true,
      hidden: false,
    } as BlockToken;
    if (nesting > 0) this.level++;
    this.tokens.push(token);
    return token;
  }
};

/** The prose of a document in reading order: fences, code spans, tags and addresses are left out. */
export function findProse(text: string): Prose[] {
  const starts = lineStarts(text);
  const found: Prose[] = [];
  let row: (Span & { cells: number }) | undefined;
  let isHeading = false;
  for (const { type, map } of blocks.parse(withoutEndlessTags(text), {})) {
    if (type === 'heading_open') isHeading = true;
    if (type === 'heading_close') isHeading = false;
    if (type === 'tr_open' && map) row = { ...spanOf(starts, map, text.length), cells: 0 };
    if (type === 'th_open' || type === 'td_open') if (row) row.cells++;
    if (type === 'tr_close' && row) {
      const cells = cellsOf(text, row).slice(0, row.cells);
      found.push(...cells.map((cell) => ({ ...proseOf(text, cell), isHeading })));
      row = undefined;
    }
    if (type !== 'inline' || row || !map) continue;
    found.push({ ...proseOf(text, spanOf(starts, map, text.length)), isHeading });
  }
  return found;
}

/** The parser's expressions for HTML overflow the stack on a tag of megabytes; nobody writes one. */
const LONGEST_LINE = 1_000_000;

/** The text, of the same length, where a line is so long that no tag in it can be read. */
function withoutEndlessTags(text: string): string {
  if (text.length <= LONGEST_LINE) return text;
  return text.replace(/[^\r\n]+/g, (line) =>
    line.length > LONGEST_LINE ? line.replaceAll('<', '\u2039') : line,
  );
}

/** A lone carriage return ends a line, too (CommonMark 2.1). */
function lineStarts(text: string): number[] {
  const starts = [0];
  const plain = text.includes('\r') ? text.replace(/\r(?!\n)/g, '\n') : text;
  for (let at = plain.indexOf('\n'); at !== -1; at = plain.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

const spanOf = (starts: readonly number[], map: readonly number[], length: number): Span => ({
  start: starts[map[0] ?? 0] ?? length,
  end: starts[map[1] ?? 0] ?? length,
});

const OUTSIDE = /^(?:[-*+]|\d{1,9}[.)])?$/;

/** A row is cut at its pipes before anything in it is read, escaped ones apart. */
function cellsOf(text: string, { start, end }: Span): Span[] {
  const cells: Span[] = [];
  let from = start;
  for (let at = start; at < end; at++) {
    const sign = text[at];
    if (sign === '\\') at++;
    else if (sign === '|') {
      cells.push({ start: from, end: at });
      from = at + 1;
    }
  }
  // Before the first pipe of most rows stands nothing, or the sign of the block that holds the table.
  const isOutside =
    cells[0] && OUTSIDE.test(text.slice(cells[0].start, cells[0].end).replace(/[\s>]/g, ''));
  return [...cells, { start: from, end }].slice(isOutside ? 1 : 0);
}

const AUTOLINK = /<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>/y;
const VALUE = String.raw`"[^"]*"|'[^']*'|[^\s"'=<>` + '`' + String.raw`]+`;
const ATTRIBUTE = String.raw`\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:${VALUE}))?`;
const NAME = '[A-Za-z][A-Za-z0-9-]*';
const TAG = new RegExp(String.raw`<(?:/${NAME}\s*|${NAME}(?:${ATTRIBUTE}){0,99}\s*/?)>`, 'y');
const SIGNS = /[\\`<[\]]/g;
/** What follows the text of a link: its address, with a title or without. */
const LETTERS = String.raw`(?:\\[^]|[^\s()\\]){0,4000}`;
const ADDRESS = String.raw`<[^<>\n]*>|(?!<)${LETTERS}(?:\(${LETTERS}\)${LETTERS}){0,9}`;
const TITLE = String.raw`\s+(?:"[^"]*"|'[^']*')`;
const TARGET = new RegExp(String.raw`\]\([ \t\r\n]*(?:${ADDRESS})(?:${TITLE})?[ \t\r\n]*\)`, 'y');

function proseOf(text: string, { start, end }: Span): Omit<Prose, 'isHeading'> {
  const block = text.slice(start, end);
  const parts: Span[] = [];
  const ticks = new Ticks(text, { start, end });
  let from = start;
  let at = start;
  let comments = true;
  let open: { readonly at: number; readonly isImage: boolean }[] = [];
  let escapedTo = start;
  const skipTo = (next: number): void => {
    if (at > from) parts.push({ start: from, end: at });
    at = next;
    from = next;
  };
  while (at < end) {
    // Most of a text is none of these: looking at each sign takes ten times as long.
    SIGNS.lastIndex = at - start;
    const sign = SIGNS.exec(block);
    if (sign === null) break;
    at = start + sign.index;
    if (sign[0] === '\\') {
      at += 2;
      escapedTo = at;
    } else if (sign[0] === '`') {
      const close = ticks.closeOf(at);
      if (close.isCode) skipTo(close.end);
      else at = close.end;
    } else if (sign[0] === '<' && comments && text.startsWith('<!--', at)) {
      const close = text.indexOf('-->', at);
      comments = close !== -1 && close < end;
      if (comments) skipTo(close + 3);
      else at++;
    } else if (sign[0] === '<') {
      const close = matchAt(AUTOLINK, text, at) ?? matchAt(TAG, text, at);
      if (close !== undefined && close <= end) skipTo(close);
      else at++;
    } else if (sign[0] === '[') {
      const isImage = text[at - 1] === '!' && at > escapedTo;
      open.push({ at: at++, isImage });
    } else {
      const opened = open.pop();
      const close = opened && matchAt(TARGET, text, at);
      if (opened === undefined || close === undefined || close > end) at++;
      else {
        skipTo(close);
        if (opened.isImage) cutFrom(parts, opened.at);
        // A link holds no other: brackets around it open none but an image's.
        else open = open.filter(({ isImage }) => isImage);
      }
    }
  }
  if (end > from) parts.push({ start: from, end });
  return { start, end, parts };
}

/** Takes off what stands behind a place: the text of an image is shown to nobody. */
function cutFrom(parts: Span[], from: number): void {
  while ((parts.at(-1)?.start ?? -1) >= from) parts.pop();
  const last = parts.pop();
  if (last) parts.push({ start: last.start, end: Math.min(last.end, from) });
}

function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** The runs of backticks in a block: a run opens code where a later one is as long. */
class Ticks {
  readonly #text: string;
  readonly #end: number;
  /** The starts of the runs of each length, made when the first is asked for. */
  #runs: Map<number, number[]> | undefined;
  readonly #start: number;

  constructor(text: string, { start, end }: Span) {
    this.#text = text;
    this.#start = start;
    this.#end = end;
  }

  closeOf(at: number): { readonly end: number; readonly isCode: boolean } {
    const behind = this.#runEnd(at);
    this.#runs ??= this.#findRuns();
    const starts = this.#runs.get(behind - at) ?? [];
    while ((starts.at(-1) ?? this.#end) < behind) starts.pop();
    const close = starts.at(-1);
    return close === undefined
      ? { end: behind, isCode: false }
      : { end: close + behind - at, isCode: true };
  }

  #runEnd(at: number): number {
    let end = at;
    while (end < this.#end && this.#text[end] === '`') end++;
    return end;
  }

  /** By length, the last run first, so that those that were passed are taken off the end. */
  #findRuns(): Map<number, number[]> {
    const runs = new Map<number, number[]>();
    for (let at = this.#start; at < this.#end; at++) {
      if (this.#text[at] !== '`') continue;
      const end = this.#runEnd(at);
      const known = runs.get(end - at);
      if (known) known.push(at);
      else runs.set(end - at, [at]);
      at = end;
    }
    for (const starts of runs.values()) starts.reverse();
    return runs;
  }
}
