import { isProse, type PieceReader } from './piece-reader.ts';

const HEADING = /^(#{1,6})\s+(.*)/;
const BULLET = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)/;
const LABELLED = /^\*\*([^*\n]{1,60}?):?\*\*(?::\s*|\s*$|\s+)(.*)/;

/** Line by line: headings make the path, labelled lines make fields, the rest makes sentences. */
export function readMarkdown(
  text: string,
  reader: PieceReader,
  base: readonly string[] = [],
): void {
  const state: MarkdownState = {
    base,
    path: [],
    field: '',
    columns: [],
    paragraph: [],
    fenced: false,
  };
  const lines = text.replace(/^---\n[\s\S]*?\n---\n/, '').split(/\r\n|[\n\r\u2028\u2029]/);
  for (const line of lines) readLine(line, state, reader);
  endParagraph(state, reader);
}

type MarkdownState = {
  /** What the text itself stands in. */
  readonly base: readonly string[];
  path: string[];
  /** The label that the entries below belong to. */
  field: string;
  columns: string[];
  paragraph: string[];
  fenced: boolean;
};

function readLine(line: string, state: MarkdownState, reader: PieceReader): void {
  if (/^\s*(?:```|~~~)/.test(line)) {
    endParagraph(state, reader);
    state.fenced = !state.fenced;
    return;
  }
  if (state.fenced) return;
  const heading = HEADING.exec(line);
  const bullet = BULLET.exec(line);
  if (heading || bullet || /^\s*(?:\||$|<)/.test(line)) endParagraph(state, reader);
  if (heading) openSection(heading[1]!.length, heading[2]!, state);
  else if (/^\s*\|/.test(line)) readRow(line, state, reader);
  else if (bullet) readEntry(bullet[1]!, state, reader, true);
  else if (line.trim() === '') state.columns = [];
  else state.paragraph.push(line.replace(/^\s*>\s?/, ''));
}

function openSection(level: number, title: string, state: MarkdownState): void {
  state.path = [...state.path.slice(0, level - 1), plain(withoutClosing(title))];
  while (state.path.length < level) state.path.splice(-1, 0, '');
  state.field = '';
  state.columns = [];
}

/** `## Title ##` is called Title. */
function withoutClosing(title: string): string {
  let end = title.length;
  while (title[end - 1] === '#') end -= 1;
  return title.slice(0, end).trimEnd();
}

function endParagraph(state: MarkdownState, reader: PieceReader): void {
  if (state.paragraph.length === 0) return;
  const text = state.paragraph.join(' ');
  state.paragraph = [];
  readEntry(text, state, reader, false);
}

/** `**Owner:** the shop` is a field; `**Steps**` on its own names what follows. */
function readEntry(text: string, state: MarkdownState, reader: PieceReader, entry: boolean): void {
  const labelled = LABELLED.exec(text.trim());
  if (labelled) state.field = labelled[1]!;
  const value = plain(labelled ? labelled[2]! : text);
  if (value === '') return;
  const place = [...state.base, ...state.path];
  const path = state.field === '' ? place : [...place, state.field];
  if (state.field !== '') reader.note(place, state.field, value);
  if (!labelled || isProse(value)) reader.say(value, path, entry);
  if (labelled) state.field = '';
}

function readRow(line: string, state: MarkdownState, reader: PieceReader): void {
  const cells = line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => plain(cell.trim()));
  if (cells.every((cell) => /^:?-+:?$/.test(cell))) return;
  if (state.columns.length === 0) {
    state.columns = cells;
    return;
  }
  const row = [...state.base, ...state.path, `#0 ${cells[0]}`];
  for (const [index, cell] of cells.entries()) {
    const column = state.columns[index] ?? '';
    if (cell === '') continue;
    reader.note(row, column, cell);
    if (isProse(cell)) reader.say(cell, [...row, column], true);
  }
}

const plain = (text: string): string =>
  text
    .replace(/\*\*|__|~~/g, '')
    .replace(/`([^`]*)`/g, '$1')
    .replace(/!?\[([^\][]*)\]\((?:[^()]|\([^()]*\))*\)/g, '$1')
    .replace(/\\([\\`*_{}[\]()#+.!|-])/g, '$1')
    .trim();
