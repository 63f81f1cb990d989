const NO_TEXT = /^(?:\s*#{1,6}\s|[|:\s-]*$)/;
const BULLET = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[.?\]\s+)?/;

/** The texts of Markdown: paragraphs, entries of lists, cells of tables; no headings, no code. */
export function splitParagraphs(text: string): string[] {
  const parts: string[] = [];
  let goesOn = false;
  for (const line of text.replace(/^```[^]*?^```/gm, '').split('\n')) {
    const bare = line.replace(BULLET, '');
    if (NO_TEXT.test(line)) goesOn = false;
    else if (line.startsWith('|')) parts.push(...line.split('|'));
    else if (goesOn && bare === line) parts.push(`${parts.pop()} ${line}`);
    else goesOn = parts.push(bare) > 0;
  }
  return parts.map((part) => part.replace(/[*`]|(?<=^|\s)_|_(?=\s|$)/g, ''));
}
