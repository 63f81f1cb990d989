import type { Contract, ContractNode, RecordKind } from '../recipe/types.ts';
import { collectRecords, type RawRecord } from './collect-records.ts';
import { idKey } from './ids.ts';
import { readDecision } from './read-ledger.ts';
import { readWorkItem } from './read-records.ts';
import type { Decision } from './types.ts';

/** A document whose records are collected, with who wrote it. */
export type LedgerDocument = {
  readonly title: string;
  readonly author: string;
  readonly contract: ContractNode;
  readonly content: unknown;
  /** For a ballot: its label for the plan that the ledger is about; its other records are left out. */
  readonly ownLabel?: string;
};

/**
 * Fills every list of records of a contract with the records of that kind in the documents, in
 * their order. Findings are numbered through, so that every later document can name them: the same
 * documents in the same order give the same ids.
 */
export function collectLedger(
  contract: Contract,
  documents: readonly LedgerDocument[],
): Record<string, unknown> {
  const lists = Object.entries(contract.properties).flatMap(([key, node]): [string, unknown][] => {
    const kind = node['x-records'];
    return kind === undefined ? [] : [[key, collectKind(kind, node, documents)]];
  });
  return Object.fromEntries(lists);
}

function collectKind(
  kind: RecordKind,
  node: ContractNode,
  documents: readonly LedgerDocument[],
): RawRecord[] {
  const found = documents.flatMap(({ title, author, contract, content, ownLabel }) =>
    collectRecords(contract, content, kind)
      .filter(({ option }) => ownLabel === undefined || isAbout(option, ownLabel))
      .map((raw): RawRecord => ({ ...raw, source: title, by: author })),
  );
  const records = kind === 'findings' ? numberFindings(found, documents) : found;
  const fields = Object.keys(node.items?.properties ?? {});
  return records.map((record) =>
    Object.fromEntries(
      fields.flatMap((field) => (record[field] === undefined ? [] : [[field, record[field]]])),
    ),
  );
}

/** `B`, `Plan B` and `option b` are about B; a record that names no plan is about all. */
function isAbout(option: unknown, label: string): boolean {
  if (typeof option !== 'string' || option.trim() === '') return true;
  const words = option.toLowerCase().split(/\W+/).filter(Boolean);
  return words.at(-1) === label.toLowerCase();
}

/** A finding without a claim says nothing and gets no number. */
function numberFindings(
  found: readonly RawRecord[],
  documents: readonly LedgerDocument[],
): RawRecord[] {
  const decisions = documents.flatMap(({ contract, content }) =>
    collectRecords(contract, content, 'decisions').map(readDecision),
  );
  const items = documents.flatMap(({ contract, content }) =>
    collectRecords(contract, content, 'work_items').map(readWorkItem),
  );
  return found
    .filter(({ claim }) => typeof claim === 'string' && claim.trim() !== '')
    .map((raw, index): RawRecord => {
      const id = `F${index + 1}`;
      const own = decisions.filter(({ findings }) => findings.some((one) => idKey(one) === id));
      const work = items.filter(({ findings }) => findings.some((one) => idKey(one) === id));
      return {
        ...raw,
        id,
        ...(own.length > 0 && { decision: own.map(sayDecision).join('; ') }),
        ...(work.length > 0 && { work: work.map((item) => item.id).join(', ') }),
      };
    });
}

function sayDecision({ decision, where, why, owner }: Decision): string {
  const said = decision === 'taken_up' ? 'taken up' : decision;
  const rest = [where, why, owner && `decided by ${owner}`].filter(Boolean).join('; ');
  return rest === '' ? said : `${said}: ${rest}`;
}
