import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import remarkParse from 'remark-parse';
import { type Processor, unified } from 'unified';

type Node = {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly position?: { readonly start: { readonly offset?: number } };
};

/** CommonMark with tables. Of the rest of GitHub's dialect, bare addresses would hide markers. */
function tables(this: Processor): void {
  this.data({
    micromarkExtensions: [gfmTable()],
    fromMarkdownExtensions: [gfmTableFromMarkdown()],
  });
}
const parser = unified().use(remarkParse).use(tables);
/** Stands between what is no text of one run; part of no marker. */
const BREAK = '\u0000';

/** The markers that remark shows as text, block by block, in the order of the document. */
export function readWithRemark(text: string): string[] {
  return shownIn(parser.parse(text) as Node, text).match(/\[S\d+\]/g) ?? [];
}

function shownIn(node: Node, text: string): string {
  if (node.type === 'text') return node.value ?? '';
  const isAddress = node.type === 'link' && text[node.position?.start.offset ?? 0] === '<';
  const shown = isAddress ? [] : childrenOf(node).map((child) => shownIn(child, text));
  return `${BREAK}${shown.join('')}${BREAK}`;
}

/** A row may have more cells than the head of its table; those are not shown (GFM 4.10). */
function childrenOf({ type, children = [] }: Node): readonly Node[] {
  if (type !== 'table') return children;
  const columns = children[0]?.children?.length ?? 0;
  return children.map((row) => ({ ...row, children: (row.children ?? []).slice(0, columns) }));
}
