import { compareIds } from './ids.ts';

/** Who needs whom, by key; only needs that exist. */
type NeedGraph = ReadonlyMap<string, readonly string[]>;

/**
 * The cycles, each as keys in the order of "needs", from its smallest key on. Items that several
 * cycles share are named with the first of them.
 */
export function findCycles(graph: NeedGraph): string[][] {
  const knotted = findKnots(graph);
  const told = new Set<string>();
  const cycles: string[][] = [];
  for (const key of [...knotted].toSorted(compareIds)) {
    if (told.has(key)) continue;
    const cycle = shortestCycle(graph, knotted, key);
    for (const member of cycle) told.add(member);
    if (cycle.length > 0) cycles.push(cycle);
  }
  return cycles;
}

/** Every key that can neither come first nor last: those of cycles, and those between two. */
export function findKnots(graph: NeedGraph): Set<string> {
  const left = new Set(graph.keys());
  peel(left, graph);
  peel(left, invert(graph));
  return left;
}

/** Takes out what waits for nothing that is left, again and again (Kahn). */
function peel(left: Set<string>, graph: NeedGraph): void {
  const open = new Map<string, number>();
  for (const key of left) {
    open.set(key, (graph.get(key) ?? []).filter((need) => left.has(need)).length);
  }
  const dependants = invert(graph);
  const free = [...left].filter((key) => open.get(key) === 0);
  for (let key = free.pop(); key !== undefined; key = free.pop()) {
    left.delete(key);
    for (const dependant of dependants.get(key) ?? []) {
      if (!left.has(dependant)) continue;
      const count = (open.get(dependant) ?? 0) - 1;
      open.set(dependant, count);
      if (count === 0) free.push(dependant);
    }
  }
}

/** Who is needed by whom. */
function invert(graph: NeedGraph): Map<string, string[]> {
  const inverted = new Map<string, string[]>([...graph.keys()].map((key) => [key, []]));
  for (const [key, needs] of graph) {
    for (const need of needs) inverted.get(need)?.push(key);
  }
  return inverted;
}

/** Breadth first from the key until it is reached again; empty where it lies between cycles. */
function shortestCycle(graph: NeedGraph, within: ReadonlySet<string>, start: string): string[] {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const key of queue) {
    const needs = (graph.get(key) ?? []).filter((need) => within.has(need)).toSorted(compareIds);
    for (const need of needs) {
      if (need === start) return trace(cameFrom, start, key);
      if (cameFrom.has(need)) continue;
      cameFrom.set(need, key);
      queue.push(need);
    }
  }
  return [];
}

function trace(cameFrom: ReadonlyMap<string, string>, start: string, end: string): string[] {
  const path = [end];
  for (let key = end; key !== start; path.unshift(key)) key = cameFrom.get(key) ?? start;
  return path;
}
