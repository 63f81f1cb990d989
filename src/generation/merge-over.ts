import { isRecord, type JsonRecord } from './json-reader.ts';

/**
 * A document that states only its changes, laid over the one that it extends: what it does not
 * mention stays, lists of records merge by `id`, and new records come last. Lists without ids and
 * plain values are taken from the change as a whole.
 */
export function mergeOver(base: JsonRecord, change: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) merged[key] = mergeValue(base[key], value);
  return merged as JsonRecord;
}

function mergeValue(base: unknown, change: unknown): unknown {
  if (isRecord(base) && isRecord(change)) return mergeOver(base, change);
  if (Array.isArray(base) && Array.isArray(change)) return mergeList(base, change);
  return change;
}

function mergeList(base: readonly unknown[], change: readonly unknown[]): unknown[] {
  const key = ['id', 'name'].find((one) => [...base, ...change].every((item) => idOf(item, one)));
  if (key === undefined) return [...change];
  const changed = new Map(change.map((item) => [idOf(item, key), item]));
  const kept = base.map((item) => {
    const other = changed.get(idOf(item, key));
    changed.delete(idOf(item, key));
    return other === undefined ? item : mergeValue(item, other);
  });
  return [...kept, ...changed.values()];
}

const idOf = (item: unknown, key: string): string | undefined =>
  isRecord(item) && typeof item[key] === 'string' && item[key] !== ''
    ? item[key].trim().toLowerCase()
    : undefined;
