import type { WorkItems } from '../recipe/types.ts';
import { readRecords } from '../text/dotted-path.ts';

/** One piece of work that a document hands out. */
type WorkItem = {
  /** Unique among the items, so that each can have a file of its own. */
  readonly id: string;
  readonly title: string;
  readonly item: Readonly<Record<string, unknown>>;
};

/**
 * The work items of a document, in its order, across all the lists that the path leads to. An item
 * without an id gets its number; an id that was used before gets a number behind it.
 */
export function readWorkItems(workItems: WorkItems, content: unknown): WorkItem[] {
  const used = new Set<string>();
  return readRecords(content, workItems.items).map((item, index) => {
    const id = makeUnique(readText(item[workItems.id]) || String(index + 1), used);
    used.add(id);
    return { id, title: readText(item[workItems.title]) || id, item };
  });
}

function readText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}

function makeUnique(id: string, used: ReadonlySet<string>): string {
  let unique = id;
  for (let count = 2; used.has(unique); count += 1) unique = `${id}-${count}`;
  return unique;
}
