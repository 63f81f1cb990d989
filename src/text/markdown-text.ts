/**
 * Model-written Markdown, made safe to stand inside a larger document: it keeps its own structure
 * and cannot change that of what surrounds it.
 */
import { withoutControls } from './clean-text.ts';
import { type Fence, findFences, makePlainInert, makePlainInlineInert } from './safe-markdown.ts';

const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/;
const SETEXT = /^ {0,3}(?:=+|-{2,})\s*$/;
const DEFINITION = /^( {0,3})\[(?=[^\]]+\]:)/;

/** A text of any length: headings start at `level`, fences are closed, HTML shows as text. */
export function safeBlock(text: string, level: number): string {
  const plain = withoutControls(text.replace(/\r\n?/g, '\n'));
  const body = dedent(plain).trimStart();
  const lines = body.split('\n');
  const fences = findFences(body);
  const code = markLines(lines.length, fences);
  const shift = Math.max(0, level - topHeading(lines, code));
  const result: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (code[index]) result.push(line);
    else if (isUnderline(lines, code, index)) {
      // A line of dashes below a text would make it a heading; a line of equals signs is meant to.
      if (line.includes('-')) result.push('', line.trim());
      else result.push(`${hashes(1 + shift)} ${result.pop()!.trim()}`);
    } else result.push(safeLine(line, shift));
  }
  const open = fences.find((fence) => isLeftOpen(lines, fence));
  return makePlainInert((open ? [...result, open.markup] : result).join('\n').trimEnd());
}

/** What would begin a block where the text stands first in its line. */
const BLOCK_MARK = /^(?:#{1,6}(?=\s|$)|~{3,}|`{3,}(?=[^`]*$)|(?:=+|-{2,})$)/;

/** A text that has to stay on one line, as in a heading. */
export function safeInline(text: string): string {
  const line = withoutControls(text).replace(/\s+/g, ' ').trim();
  return makePlainInlineInert(line.replace(BLOCK_MARK, '\\$&'));
}

/** A text in a cell of a table. */
export function safeCell(text: string): string {
  return safeInline(text).replace(/\\?\|/g, '\\|');
}

/** Takes away the indentation that all lines share, which would make code of them. */
export function dedent(text: string): string {
  const body = text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
  const lines = body.split('\n');
  let common = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    if (line.trim() !== '') common = Math.min(common, indentOf(line));
  }
  if (!Number.isFinite(common) || common === 0) return body;
  return lines.map((line) => line.slice(Math.min(common, indentOf(line)))).join('\n');
}

/** More than one empty line means nothing in Markdown, except within code. */
export function joinEmptyLines(text: string): string {
  if (!/\n[ \t]*\n[ \t]*\n/.test(text)) return text;
  const lines = text.split('\n');
  const code = markLines(lines.length, findFences(text));
  const isEmpty = (index: number): boolean =>
    index >= 0 && index < lines.length && !code[index] && lines[index]!.trim() === '';
  return lines
    .map((line, index) =>
      isEmpty(index) && isEmpty(index - 1) ? null : isEmpty(index + 1) ? line.trimEnd() : line,
    )
    .filter((line) => line !== null)
    .join('\n');
}

const indentOf = (line: string): number => /^[ \t]*/.exec(line)![0].length;
const hashes = (level: number): string => '#'.repeat(Math.min(Math.max(level, 1), 6));

const safeLine = (line: string, shift: number): string =>
  line
    .replace(HEADING, (_, marks: string) => hashes(marks.length + shift))
    .replace(DEFINITION, '$1\\[');

/** For each line, whether it belongs to a fenced block. */
function markLines(count: number, fences: readonly Fence[]): boolean[] {
  const code = Array.from<boolean>({ length: count }).fill(false);
  for (const { start, end } of fences) code.fill(true, start, end);
  return code;
}

/** A fence that nothing closes would take in what follows the text. */
function isLeftOpen(lines: readonly string[], { start, end, markup, level }: Fence): boolean {
  if (level > 0 || end < lines.length) return false;
  const last = lines.at(-1)!.trim();
  const closes = last.startsWith(markup) && last === markup[0]!.repeat(last.length);
  return !closes || start === end - 1;
}

function isUnderline(lines: readonly string[], code: readonly boolean[], index: number): boolean {
  const above = lines[index - 1];
  return (
    above !== undefined && !code[index - 1] && above.trim() !== '' && SETEXT.test(lines[index]!)
  );
}

function topHeading(lines: readonly string[], code: readonly boolean[]): number {
  let top = 7;
  for (const [index, line] of lines.entries()) {
    if (code[index]) continue;
    const marks = HEADING.exec(line)?.[1]?.length;
    if (marks !== undefined) top = Math.min(top, marks);
    else if (isUnderline(lines, code, index) && line.includes('=')) top = 1;
  }
  return top;
}
