import type { ContractNode, RecordKind } from '../recipe/types.ts';
import { collectRecords, keepsCalendar } from './collect-records.ts';
import { listPassages } from './passages.ts';
import { RECORD_READERS } from './read-records.ts';
import type { CheckInput } from './types.ts';

/** A document with the contract that says where its records are. */
export type PlanDocument = {
  readonly title: string;
  readonly contract: ContractNode;
  readonly content: unknown;
  readonly text?: string;
};

/** Everything that the documents hold for checkPlan, in their order. */
export function gatherPlan(documents: readonly PlanDocument[]): CheckInput {
  const gather = <K extends RecordKind>(
    kind: K,
    from: readonly PlanDocument[] = documents,
  ): ReturnType<(typeof RECORD_READERS)[K]>[] => {
    const read = RECORD_READERS[kind] as (
      raw: Readonly<Record<string, unknown>>,
    ) => ReturnType<(typeof RECORD_READERS)[K]>;
    return from.flatMap(({ contract, content }) =>
      collectRecords(contract, content, kind).map((raw) => read(raw)),
    );
  };
  const [calendar] = gather('calendar');
  return {
    demands: gather('demands'),
    people: gather('people'),
    workItems: gather('work_items'),
    costs: gather('costs'),
    findings: gather('findings'),
    decisions: gather('decisions'),
    calendar: calendar ?? null,
    keepsCalendar: documents.some(({ contract }) => keepsCalendar(contract)),
    milestones: gather('milestones').filter((one) => one !== null),
    gates: gather('gates'),
    prices: gather('prices'),
    documents: documents.map((document) => ({
      title: document.title,
      figures: gather('figures', [document]),
      ...(document.text === undefined ? {} : { text: document.text }),
      people: gather('people', [document]),
      prose: listPassages(document.contract, document.content),
    })),
  };
}
