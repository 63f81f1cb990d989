import MarkdownIt from 'markdown-it';
import { readTablesLate } from '../text/late-tables.ts';

/** A piece of Markdown that is never divided: a paragraph or sentence, an item, a row, a fence. */
export type Atom = {
  readonly start: number;
  readonly end: number;
  /** The headings above it, outermost first; a heading's own text is the last of its own path. */
  readonly headings: readonly string[];
  readonly isHeading: boolean;
  /** The head of the table that a row belongs to, without which its cells mean nothing. */
  readonly lead: string;
};

type Token = ReturnType<(typeof blocks)['parse']>[number];
type Lines = { readonly text: string; readonly starts: readonly number[] };

// Blocks alone: what stands within a line is never parsed.
const blocks = new MarkdownIt({ html: true });
blocks.core.ruler.enableOnly(['normalize', 'block']);
readTablesLate(blocks);

/** Cuts Markdown into pieces that follow each other without a gap; `most` is in characters. */
export function markdownAtoms(text: string, most: number): Atom[] {
  const lines: Lines = { text, starts: lineStarts(text) };
  const parsed = findAtoms(blocks.parse(text, {}), lines, most);
  const nothing = { start: 0, end: 0, headings: [], isHeading: false, lead: '' };
  const found = parsed.length === 0 ? [nothing] : parsed;
  // Blank lines and definitions, of which the parser tells nothing, go to the piece before them.
  const starts = [0, ...found.slice(1).map(({ start }) => start), text.length];
  return found
    .map((atom, index) => ({ ...atom, start: starts[index] ?? 0, end: starts[index + 1] ?? 0 }))
    .filter(({ start, end }) => start < end);
}

function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\r\n?|\n/g)].map((match) => match.index + match[0].length)];
}

function findAtoms(tokens: readonly Token[], lines: Lines, most: number): Atom[] {
  const atoms: Atom[] = [];
  let path: { readonly level: number; readonly title: string }[] = [];
  let lead = '';
  for (const [index, token] of tokens.entries()) {
    if (token.map === null || token.nesting < 0) continue;
    const [from, to] = token.map.map((line) => lines.starts[line] ?? lines.text.length);
    if (from === undefined || to === undefined) continue;
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1));
      const title = tokens[index + 1]?.content ?? '';
      path = [...path.filter((one) => one.level < level), { level, title }];
    }
    if (token.type === 'thead_open') lead = lines.text.slice(from, lines.starts[token.map[1] + 1]);
    if (token.type === 'table_close' || token.type === 'table_open') lead = '';
    if (!isAtom(token)) continue;
    const headings = path.map(({ title }) => title);
    const place = { headings, isHeading: token.type === 'heading_open', lead };
    const isLong = token.type === 'paragraph_open' && to - from > most;
    for (const start of isLong ? sentenceStarts(lines.text.slice(from, to)) : [0]) {
      atoms.push({ start: from + start, end: to, ...place });
    }
  }
  return atoms;
}

/** Rows and items of lists that stand by themselves are pieces, and so is every other block. */
function isAtom({ type, level }: Token): boolean {
  if (type === 'list_item_open') return level === 1;
  if (type === 'tr_open') return level === 2;
  return level === 0 && !/^(?:bullet_list|ordered_list|table)_open$/.test(type);
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });
/** Markers of sources that follow a full stop belong to the sentence before it. */
const MARKER = /^\s*(?:\[\^?[A-Za-z]*\d+[^\]]*\]|【[^】]*】)/;

/** Where sentences begin; one that is cut within code, or before its marker, goes on. */
function sentenceStarts(paragraph: string): number[] {
  const flat = paragraph.replace(/[\r\n]/g, ' ');
  const starts = [0];
  for (const { segment, index } of segmenter.segment(flat)) {
    const before = flat.slice(starts.at(-1), index);
    const isInCode = (before.match(/`/g)?.length ?? 0) % 2 === 1;
    if (index > 0 && !isInCode && !MARKER.test(segment)) starts.push(index);
  }
  return starts;
}
