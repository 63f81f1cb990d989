import MarkdownIt, { type MarkdownIt as Parser } from 'markdown-it';

/** Lets a parser look for fences, quotes and lists before it looks for a table, as GitHub does. */
export function readTablesLate(parser: Parser): void {
  const { block } = new MarkdownIt();
  block.ruler.enableOnly(['table']);
  const table = block.ruler.getRules('')[0]!;
  parser.disable('table');
  parser.block.ruler.before('lheading', 'late_table', table, { alt: ['paragraph', 'reference'] });
}
