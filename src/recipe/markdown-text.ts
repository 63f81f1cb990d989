/**
 * Model-written Markdown, made safe to stand inside a larger document: it keeps its own structure
 * and cannot change that of what surrounds it.
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/;
const SETEXT = /^ {0,3}(=+|-{2,})\s*$/;
const DEFINITION = /^( {0,3})\[(?=[^\]]+\]:)/;
const TAG = /<(?=[a-zA-Z/!?])(?!https?:\/\/[^\s<>]+>|mailto:[^\s<>]+>)/g;
const CODE_SPAN = /(`+)(?!`)(?:.*?[^`])?\1(?!`)/g;
/** Terminal escapes and the like; line breaks and tabs stay. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** A text of any length: headings start at `level`, fences are closed, HTML shows as text. */
export function safeBlock(text: string, level: number): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(CONTROLS, '');
  const lines = dedent(plain).trimStart().split('\n');
  const shift = Math.max(0, level - topHeading(lines));
  const result: string[] = [];
  for (const { line, code, previous } of walk(lines)) {
    if (code) result.push(line);
    else if (SETEXT.test(line) && previous.trim() !== '') {
      // A line of dashes below a text would make it a heading; a line of equals signs is meant to.
      if (line.includes('-')) result.push('', line.trim());
      else result.push(`${hashes(1 + shift)} ${result.pop()!.trim()}`);
    } else result.push(safeLine(line, shift));
  }
  const open = openFence(lines);
  return (open ? [...result, open] : result).join('\n').trimEnd();
}

/** A text that has to stay on one line, as in a heading. */
export function safeInline(text: string): string {
  return escapeTags(text.replace(CONTROLS, '').replace(/\s+/g, ' ').trim());
}

/** A text in a cell of a table. */
export function safeCell(text: string): string {
  return safeInline(text).replace(/\\?\|/g, '\\|');
}

/** Takes away the indentation that all lines share, which would make code of them. */
export function dedent(text: string): string {
  const body = text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
  const indents = body
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(indentOf);
  const common = Math.min(...indents);
  if (!Number.isFinite(common) || common === 0) return body;
  return body.replace(new RegExp(`^[ \\t]{0,${common}}`, 'gm'), '');
}

const indentOf = (line: string): number => /^[ \t]*/.exec(line)![0].length;
const hashes = (level: number): string => '#'.repeat(Math.min(Math.max(level, 1), 6));

function safeLine(line: string, shift: number): string {
  const shifted = line.replace(HEADING, (_, marks: string) => hashes(marks.length + shift));
  return escapeTags(shifted.replace(DEFINITION, '$1\\['));
}

function escapeTags(line: string): string {
  let result = '';
  let from = 0;
  for (const span of line.matchAll(CODE_SPAN)) {
    result += line.slice(from, span.index).replace(TAG, '&lt;') + span[0];
    from = span.index + span[0].length;
  }
  return result + line.slice(from).replace(TAG, '&lt;');
}

type Step = { readonly line: string; readonly code: boolean; readonly previous: string };

/** The lines with whether they belong to a fenced block, its fences included. */
function* walk(lines: readonly string[]): Generator<Step> {
  let fence: string | undefined;
  let previous = '';
  for (const line of lines) {
    const inside = fence !== undefined;
    fence = nextFence(fence, line);
    const code = inside || fence !== undefined;
    yield { line, code, previous };
    previous = code ? '' : line;
  }
}

function nextFence(fence: string | undefined, line: string): string | undefined {
  const found = FENCE.exec(line);
  if (!found) return fence;
  const [, marks = '', rest = ''] = found;
  if (fence === undefined) return marks[0] === '`' && rest.includes('`') ? undefined : marks;
  const closes = marks[0] === fence[0] && marks.length >= fence.length && rest.trim() === '';
  return closes ? undefined : fence;
}

const openFence = (lines: readonly string[]): string | undefined =>
  lines.reduce<string | undefined>(nextFence, undefined);

function topHeading(lines: readonly string[]): number {
  let top = 7;
  for (const { line, code, previous } of walk(lines)) {
    if (code) continue;
    const marks = HEADING.exec(line)?.[1]?.length;
    if (marks !== undefined) top = Math.min(top, marks);
    else if (/^ {0,3}=+\s*$/.test(line) && previous.trim() !== '') top = 1;
  }
  return top;
}
