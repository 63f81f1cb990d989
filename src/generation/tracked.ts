import { isBlank, titleOf } from '../text/markdown-blocks.ts';
import { isRecord } from './json-reader.ts';

/** A value that remembers which of its parts were looked at. */
type Tracked = { readonly value: unknown; readonly wasRead: (path: Path) => boolean };
export type Path = readonly (string | number)[];

/** What is known of one place in a value. */
type Place = { isRead: boolean; readonly within: Map<string, Place>; shown: object | undefined };

const newPlace = (): Place => ({ isRead: false, within: new Map(), shown: undefined });

/** Wraps a value for a template, so that a field without a place in it can be found. */
export function track(value: unknown): Tracked {
  const root = newPlace();
  const wrap = (target: unknown, place: Place): unknown => {
    if (typeof target !== 'object' || target === null) {
      place.isRead = true;
      return target;
    }
    place.shown ??= new Proxy(target, {
      get(object, name, receiver) {
        const child: unknown = Reflect.get(object, name, receiver);
        if (typeof name === 'symbol' || !Object.hasOwn(object, name)) return child;
        return name === 'length' && Array.isArray(object)
          ? child
          : wrap(child, within(place, name));
      },
    });
    return place.shown;
  };
  const wasRead = (path: Path): boolean => {
    let place: Place | undefined = root;
    for (const part of path) place = place?.within.get(String(part));
    return place?.isRead ?? false;
  };
  return { value: wrap(value, root), wasRead };
}

function within(place: Place, name: string): Place {
  const known = place.within.get(name) ?? newPlace();
  place.within.set(name, known);
  return known;
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
