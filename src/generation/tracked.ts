import { isBlank, titleOf } from '../text/markdown-blocks.ts';
import { isRecord } from './json-reader.ts';

/** A value that remembers which of its parts were looked at. */
type Tracked = { readonly value: unknown; readonly wasRead: (path: Path) => boolean };
export type Path = readonly (string | number)[];

const keyOf = (path: Path): string => JSON.stringify(path);

/** Wraps a value for a template, so that a field without a place in it can be found. */
export function track(value: unknown): Tracked {
  const read = new Set<string>();
  const wrap = (target: unknown, path: Path): unknown => {
    if (typeof target !== 'object' || target === null) {
      read.add(keyOf(path));
      return target;
    }
    return new Proxy(target, {
      get(object, name, receiver) {
        const child: unknown = Reflect.get(object, name, receiver);
        if (typeof name === 'symbol' || !Object.hasOwn(object, name)) return child;
        return name === 'length' && Array.isArray(object) ? child : wrap(child, [...path, name]);
      },
    });
  };
  return { value: wrap(value, []), wasRead: (path) => read.has(keyOf(path.map(String))) };
}

/**
 * What is left of a value when all that has a place is taken away; a record of which something
 * is left keeps its title, so that the reader knows whose it is.
 */
export function leftOver(
  value: unknown,
  hasPlace: (path: Path, scalar: unknown) => boolean,
  path: Path = [],
): unknown {
  if (isBlank(value)) return undefined;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, n) => leftOver(item, hasPlace, [...path, n]));
    const left = items.filter((item) => item !== undefined);
    return left.length > 0 ? left : undefined;
  }
  if (!isRecord(value)) return hasPlace(path, value) ? undefined : value;
  const left = Object.entries(value)
    .map(([key, child]) => [key, leftOver(child, hasPlace, [...path, key])] as const)
    .filter(([, child]) => child !== undefined);
  if (left.length === 0) return undefined;
  const rest = Object.fromEntries(left);
  const title = path.length > 1 && titleOf(rest) === undefined ? titleOf(value) : undefined;
  return title === undefined ? rest : { name: title, ...rest };
}
