/** The way to a value within another: names of fields and places in lists. */
export type JsonPath = readonly (string | number)[];

/** A JSON pointer (RFC 6901) into a value as a path; what is a place in a list becomes a number. */
export function parsePointer(root: unknown, pointer: string): JsonPath {
  let at: unknown = root;
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const key = Array.isArray(at) ? Number(name) : name;
      at = (at as Record<string | number, unknown> | undefined)?.[key];
      return key;
    });
}

/** One part of a JSON pointer. */
export const escapePointer = (part: string): string =>
  part.replaceAll('~', '~0').replaceAll('/', '~1');

/** `['steps', 2, 'key']` as `steps[2].key`. */
export function formatPath(path: JsonPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join('');
}
