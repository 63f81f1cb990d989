import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { escapePointer, type JsonPath } from './json-path.ts';

/** Line of each node of a YAML text, by JSON pointer; lines are one-based. */
export type YamlLines = Readonly<Record<string, number>>;

type YamlFault = {
  readonly kind: 'duplicate key' | 'syntax';
  readonly message: string;
  readonly line: number;
};

/**
 * Reads a YAML text and remembers the line of every node; the value is null where it has faults.
 * The parser throws only on abuse: aliases that multiply, nesting beyond the stack.
 */
export function readYaml(text: string): {
  readonly value: unknown;
  readonly lines: YamlLines;
  readonly faults: readonly YamlFault[];
} {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true });
  const lineAt = (offset: number): number => Math.max(1, lineCounter.linePos(offset).line);
  const faults = document.errors.map(({ code, message, pos }) => ({
    kind: code === 'DUPLICATE_KEY' ? ('duplicate key' as const) : ('syntax' as const),
    message: message.split('\n')[0] ?? code,
    line: lineAt(pos[0]),
  }));
  if (faults.length > 0) return { value: null, lines: {}, faults };
  const lines: Record<string, number> = {};
  indexLines(document.contents, '', lines, lineAt);
  return { value: document.toJS({ maxAliasCount: 100 }), lines, faults };
}

function indexLines(
  node: Node | null,
  pointer: string,
  lines: Record<string, number>,
  lineAt: (offset: number) => number,
): void {
  if (node === null || isAlias(node)) return;
  lines[pointer] ??= lineAt(node.range?.[0] ?? 0);
  if (isMap<Node, Node | null>(node)) {
    for (const pair of node.items) {
      if (!isScalar(pair.key)) continue;
      const at = `${pointer}/${escapePointer(String(pair.key.value))}`;
      lines[at] = lineAt(pair.key.range?.[0] ?? 0);
      indexLines(pair.value, at, lines, lineAt);
    }
  } else if (isSeq<Node>(node)) {
    for (const [index, item] of node.items.entries()) {
      indexLines(item, `${pointer}/${index}`, lines, lineAt);
    }
  }
}

/** The line of a place; a node that is absent has the line of its nearest parent. */
export function findLine(lines: YamlLines, path: JsonPath): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const parts = path.slice(0, length).map((part) => `/${escapePointer(String(part))}`);
    const line = lines[parts.join('')];
    if (line !== undefined) return line;
  }
  return 1;
}
