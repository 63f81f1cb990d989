import { isRecord } from './is-record.ts';

type SchemaNode<Node> = {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
};

/** What a dotted path leads to in a JSON schema; lists on the way are entered. */
export function followPath<Node extends SchemaNode<Node>>(
  schema: Node,
  dotted: string,
): Node | undefined {
  let node: Node | undefined = schema;
  for (const part of dotted.split('.')) {
    const fields: Readonly<Record<string, Node>> | undefined = (node?.items ?? node)?.properties;
    node = fields !== undefined && Object.hasOwn(fields, part) ? fields[part] : undefined;
  }
  return node;
}

/** The records of the list, or of all the lists, that the path leads to in a document. */
export function readRecords(content: unknown, dotted: string): Record<string, unknown>[] {
  let nodes: unknown[] = [content];
  for (const part of dotted.split('.')) {
    nodes = nodes
      .flatMap((node) => node)
      .map((node) => (isRecord(node) && Object.hasOwn(node, part) ? node[part] : undefined));
  }
  return nodes.flatMap((node) => (Array.isArray(node) ? node : [])).filter(isRecord);
}
