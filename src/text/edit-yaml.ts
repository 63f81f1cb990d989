import { type Document, isMap, isSeq, type Node, parseDocument } from 'yaml';
import { isSame } from './canonical-json.ts';
import { isRecord } from './is-record.ts';

/**
 * Changes a YAML text that says `before` so that it says `after`. Parts that stay keep their text,
 * comments and layout included. `before` may leave out what the text spells as a default.
 */
export function editYaml(text: string, before: unknown, after: unknown): string {
  if (isSame(before, after)) return text;
  const document = parseDocument(text);
  document.contents = patch(document, document.contents, before, after) as typeof document.contents;
  return document.toString({ lineWidth: 100 });
}

function patch(document: Document, node: unknown, before: unknown, after: unknown): unknown {
  if (isSame(before, after)) return node;
  if (isMap(node) && isRecord(before) && isRecord(after)) {
    for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) node.delete(key);
    for (const [key, value] of Object.entries(after)) {
      if (isSame(before[key], value)) continue;
      node.set(key, patch(document, node.get(key, true), before[key], value));
    }
    return node;
  }
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) {
    if (node.items.length === before.length) {
      node.items = patchItems(document, node.items as Node[], before, after);
      return node;
    }
  }
  return document.createNode(after);
}

function patchItems(document: Document, nodes: Node[], before: unknown[], after: unknown[]) {
  const names = before.map(nameOf);
  const used = new Set<number>();
  return after.map((item) => {
    const at = names.findIndex((name, index) => name === nameOf(item) && !used.has(index));
    if (at < 0) return document.createNode(item);
    used.add(at);
    return patch(document, nodes[at], before[at], item);
  });
}

/** What an item of a list keeps when other fields of it change. */
function nameOf(item: unknown): string {
  if (!isRecord(item)) return JSON.stringify(item);
  const { key, name, type, stage, document_key, iteration, from, to } = item;
  return JSON.stringify([key ?? [name, type, stage, document_key, iteration, from, to]]);
}
