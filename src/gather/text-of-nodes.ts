/** What is used of a node of a parsed page. */
export type PageNode = {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<PageNode>;
};

const [ELEMENT, TEXT] = [1, 3];
const LEFT_OUT = new Set(
  `SCRIPT STYLE NOSCRIPT TEMPLATE SVG CANVAS IFRAME OBJECT HEAD BUTTON SELECT OPTION DIALOG`.split(
    /\s+/,
  ),
);
const BLOCKS = new Set(
  `ADDRESS ARTICLE ASIDE BLOCKQUOTE BODY DD DIV DL DT FIELDSET FIGCAPTION FIGURE FOOTER FORM H1 H2 H3
H4 H5 H6 HEADER HR HTML LI MAIN NAV OL P PRE SECTION SUMMARY TABLE TBODY TFOOT THEAD TR UL`.split(
    /\s+/,
  ),
);

/**
 * The text of a page as its reader sees it: blocks as paragraphs, headings and lists with the marks of
 * Markdown, the cells of a table row in one line. It keeps its own stack, since pages may nest deeper
 * than calls can.
 */
export function textOfNodes(root: PageNode): string {
  const out = new Lines();
  const stack: (PageNode | (() => void))[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'function') node();
    else if (node.nodeType === TEXT) out.addText(node.textContent ?? '');
    else if (node.nodeType === ELEMENT || node === root) {
      stack.push(...openNode(node, out).toReversed());
    }
  }
  return out.toString();
}

/** Writes what stands before a node; returns its children and what comes after them. */
function openNode(node: PageNode, out: Lines): (PageNode | (() => void))[] {
  const name = node.nodeName.toUpperCase();
  if (LEFT_OUT.has(name)) return [];
  if (name === 'BR') out.breakLine();
  if (name === 'TD' || name === 'TH') return [() => out.addCell(), ...node.childNodes];
  if (name === 'PRE') {
    out.addBlock('```\n', `${(node.textContent ?? '').trimEnd()}\n\`\`\``);
    return [];
  }
  if (!BLOCKS.has(name)) return [...node.childNodes];
  const tight = name === 'LI' || name === 'TR' || name === 'DT' || name === 'DD';
  out.startBlock(tight, startOf(name));
  return [...node.childNodes, () => out.endBlock(tight)];
}

const startOf = (name: string): string => {
  if (/^H[1-6]$/.test(name)) return `${'#'.repeat(Number(name[1]))} `;
  return name === 'LI' ? '- ' : '';
};

/** Collects lines; white space between words is one blank, and that between blocks one empty line. */
class Lines {
  readonly #lines: string[] = [];
  #line = '';
  #mark = '';
  #gap = false;

  addText(text: string): void {
    const words = text.replace(/\s+/g, ' ');
    const before = this.#line === '' || this.#line.endsWith(' ') ? words.trimStart() : words;
    this.#line += before;
  }

  addCell(): void {
    if (this.#line.trim() !== '') this.#line = `${this.#line.trimEnd()} | `;
  }

  breakLine(): void {
    if (this.#line.trim() === '') return;
    if (this.#gap && this.#lines.length > 0) this.#lines.push('');
    this.#gap = false;
    this.#lines.push(this.#mark + this.#line.trim());
    this.#line = '';
    this.#mark = '';
  }

  startBlock(tight: boolean, mark: string): void {
    this.breakLine();
    this.#gap ||= !tight;
    if (mark !== '') this.#mark = mark;
  }

  endBlock(tight: boolean): void {
    this.breakLine();
    this.#mark = '';
    this.#gap ||= !tight;
  }

  addBlock(mark: string, text: string): void {
    this.startBlock(false, '');
    if (this.#lines.length > 0) this.#lines.push('');
    this.#lines.push(mark + text);
    this.#gap = true;
  }

  toString(): string {
    this.breakLine();
    return this.#lines.length === 0 ? '' : `${this.#lines.join('\n')}\n`;
  }
}
