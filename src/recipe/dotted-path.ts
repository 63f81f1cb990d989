import { isRecord } from './json-schema.ts';
import type { ContractNode } from './types.ts';

/** What a dotted path of process.yaml leads to in a contract; lists on the way are entered. */
export function followPath(contract: ContractNode, dotted: string): ContractNode | undefined {
  let node: ContractNode | undefined = contract;
  for (const part of dotted.split('.')) {
    const fields: ContractNode['properties'] = (node?.items ?? node)?.properties;
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
