import { byteLength, digestOf, MOST_BYTES, shortenName } from './path-names.ts';

/** What is left for a name beside a digest and an ending. */
const ROOM = MOST_BYTES - 32;

/**
 * Gives out names that differ from all given out before, also where a file system takes capitals
 * for small letters or one form of an accent for another. A name that is taken gets a digest of
 * `identity` before its ending, so that no file replaces another.
 */
export function createFreeNames(): (name: string, identity: string) => string {
  const taken = new Set<string>();
  const isFree = (name: string): boolean => !taken.has(keyOf(name));
  return (name, identity) => {
    let free = name;
    for (let count = 1; !isFree(free); count += 1) free = mark(name, `${identity}#${count}`);
    taken.add(keyOf(free));
    return free;
  };
}

const keyOf = (name: string): string => name.normalize('NFKC').toLowerCase();

function mark(name: string, identity: string): string {
  const dot = name.lastIndexOf('.');
  const end = dot > name.lastIndexOf('/') + 1 ? dot : name.length;
  const stem = name.slice(0, end);
  const short = byteLength(stem) > ROOM ? shortenName(stem, ROOM) : stem;
  return `${short}~${digestOf(identity)}${name.slice(end)}`;
}
