import { type Calendar, makeCalendar } from './calendar.ts';
import { type Capacity, readCapacities } from './capacity.ts';
import { compareIds, compareTexts, idKey } from './ids.ts';
import { findCycles, findKnots } from './needs.ts';
import { matchOwner } from './owners.ts';
import type { CheckInput, WorkItem } from './types.ts';

/** A work item with its references resolved. */
export type PlanItem = WorkItem & {
  /** Unique in the plan, also where two items share an id. */
  readonly key: string;
  /** Keys of the people who do it. */
  readonly people: readonly string[];
  /** Keys of the items it waits for: those that exist and close no cycle. */
  readonly waitsFor: readonly string[];
};

/** The input with references resolved, in one order for any order of the input. */
export type Plan = {
  readonly input: CheckInput;
  readonly items: readonly PlanItem[];
  readonly byKey: ReadonlyMap<string, PlanItem>;
  readonly capacities: ReadonlyMap<string, Capacity>;
  /** Null where the plan counts weeks without one. */
  readonly calendar: Calendar | null;
  readonly unknownNeeds: readonly { readonly item: PlanItem; readonly needs: readonly string[] }[];
  /** Cycles of needs, as item ids. */
  readonly cycles: readonly (readonly string[])[];
};

/** Resolves needs and owners; needs go by id or, where a writer names them so, by title. */
export function preparePlan(input: CheckInput): Plan {
  const items = keyItems(input.workItems);
  const demands = sortRecords(input.demands, ({ id }) => id);
  const costs = sortRecords(input.costs, ({ item }) => item);
  const capacities = readCapacities(demands, input.people);
  const known = [...capacities.keys()];
  const keys = new Set(items.map(({ key }) => key));
  const byTitle = new Map(items.map(({ title, key }) => [titleKey(title), key]));
  const find = (need: string): string | undefined =>
    keys.has(idKey(need)) ? idKey(need) : byTitle.get(titleKey(need));
  const graph = new Map(
    items.map(({ key, needs }) => [key, [...new Set(needs.flatMap((need) => find(need) ?? []))]]),
  );
  const knotted = findKnots(graph);
  const resolved = items.map((item) => ({
    ...item,
    people: [...new Set(item.owners.map((owner) => matchOwner(owner, known)))],
    waitsFor: (graph.get(item.key) ?? []).filter(
      (need) => !(knotted.has(item.key) && knotted.has(need)),
    ),
  }));
  const byKey = new Map(resolved.map((item) => [item.key, item]));
  const unknownNeeds = resolved
    .map((item) => ({ item, needs: item.needs.filter((need) => find(need) === undefined) }))
    .filter(({ needs }) => needs.length > 0);
  const cycles = findCycles(graph).map((cycle) => cycle.flatMap((key) => byKey.get(key)?.id ?? []));
  const calendar = makeCalendar(input.calendar, input.today, input.findCountry);
  const startDate = input.startDate ?? calendar?.weekOne;
  return {
    input: { ...input, demands, costs, ...(startDate !== undefined && { startDate }) },
    calendar,
    items: resolved,
    byKey,
    capacities,
    unknownNeeds,
    cycles,
  };
}

const titleKey = (title: string): string => title.trim().toLowerCase().replaceAll(/\s+/g, ' ');

/** By id, and by content where ids are equal. */
const sortRecords = <T>(records: readonly T[], idOf: (record: T) => string): T[] =>
  records.toSorted(
    (a, b) => compareIds(idOf(a), idOf(b)) || compareTexts(JSON.stringify(a), JSON.stringify(b)),
  );

/** In order of ids, with a key each; an item that two documents repeat word for word is one. */
function keyItems(workItems: readonly WorkItem[]): (WorkItem & { readonly key: string })[] {
  const texts = new Map(workItems.map((item) => [JSON.stringify(item), item]));
  const used = new Map<string, number>();
  return sortRecords([...texts.values()], ({ id }) => id).map((item, at) => {
    const id = item.id || item.title || `item ${at + 1}`;
    const times = (used.get(idKey(id)) ?? 0) + 1;
    used.set(idKey(id), times);
    return { ...item, id, key: times === 1 ? idKey(id) : `${idKey(id)}#${times}` };
  });
}
