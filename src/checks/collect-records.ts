import type { ContractNode, RecordKind } from '../recipe/types.ts';
import { isRecord } from '../text/is-record.ts';
import { onceFor } from '../text/memo.ts';

export type RawRecord = Readonly<Record<string, unknown>>;

/**
 * The records of one kind in a document, in its order: those of every list that the contract marks
 * with `x-records`, at any depth. One record in place of a list counts as a list of one.
 */
export function collectRecords(
  contract: ContractNode,
  content: unknown,
  kind: RecordKind,
): RawRecord[] {
  const found: RawRecord[] = [];
  const visit = (node: ContractNode, value: unknown): void => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (node['x-records'] === kind) found.push(...values.filter(isRecord));
    const fields = Object.entries((node.items ?? node).properties ?? {});
    for (const record of values.filter(isRecord)) {
      for (const [key, child] of fields) {
        if (Object.hasOwn(record, key)) visit(child, record[key]);
      }
    }
  };
  visit(contract, content);
  return found;
}

/** Whether a contract has a place for the frame of a plan's days. */
export const keepsCalendar: (node: ContractNode) => boolean = onceFor((node) => {
  const within = [...Object.values(node.properties ?? {}), ...(node.items ? [node.items] : [])];
  return node['x-records'] === 'calendar' || within.some(keepsCalendar);
});
