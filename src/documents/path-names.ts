/**
 * Names in paths. Whatever a model, document or file is called, its name becomes part of a path
 * and can be read back exactly: characters that file systems refuse, and those that separate
 * parts of our names, are written as %XX (%uXXXX for a lone half of a surrogate pair).
 */
const REFUSED = /[%/\\:*?"<>|\p{Cc}\p{Zl}\p{Zp}]|[. ]$|^[. ]/gu;
const LONE_SURROGATE = /\p{Cs}/gu;
/** Names that Windows keeps for devices, whatever their extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
const EMPTY = '%E';

/** A name that may hold any separator but stands alone, or last, in its part of a path. */
export function encodeName(name: string): string {
  if (name === '') return EMPTY;
  const encoded = name
    .replaceAll(REFUSED, escapeUnit)
    .replaceAll(LONE_SURROGATE, (half) => `%u${toHex(half, 4)}`);
  return DEVICE.test(encoded) ? escapeFirst(encoded) : encoded;
}

/** A name between underscores: it holds none, nor the plus that numbers equal models. */
export const encodeToken = (name: string): string =>
  encodeName(name).replaceAll(/[_+]/g, escapeUnit);

/** A document key: underscores stay readable, unless they would look like one of our endings. */
export const encodeKey = (key: string): string =>
  encodeName(key).replaceAll(/_(?=(?:continuation_\d+|feedback)$)/g, escapeUnit);

/** The first character in escaped form, for a name that would otherwise mean something else. */
export const escapeFirst = (name: string): string => escapeUnit(name.charAt(0)) + name.slice(1);

/** Reads any of the encodings back. */
export function decodeName(encoded: string): string {
  if (encoded === EMPTY) return '';
  return encoded.replaceAll(/%(?:u([0-9A-F]{4})|([0-9A-F]{2}))/g, (_whole, wide, narrow) =>
    String.fromCharCode(Number.parseInt(String(wide ?? narrow), 16)),
  );
}

const escapeUnit = (unit: string): string =>
  unit.charCodeAt(0) > 0xff ? `%u${toHex(unit, 4)}` : `%${toHex(unit, 2)}`;

const toHex = (unit: string, width: number): string =>
  unit.charCodeAt(0).toString(16).toUpperCase().padStart(width, '0');
