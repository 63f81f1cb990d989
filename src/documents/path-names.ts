import { createHash } from 'node:crypto';

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

/** File systems take 255 bytes for a name. */
export const MOST_BYTES = 255;
const DIGEST_LENGTH = 10;
const LONGEST_ENDING = 12;

export const byteLength = (name: string): number => Buffer.byteLength(name);

/**
 * An encoded name that fits: as it is, or its beginning, `~` and a digest of the whole. Two long
 * names stay different; which name a shortened one was cannot be read back.
 */
export function shortenName(encoded: string, mostBytes: number): string {
  if (byteLength(encoded) <= mostBytes) return encoded;
  const mark = `~${digestOf(encoded)}`;
  let kept = '';
  let bytes = mark.length;
  for (const character of encoded) {
    bytes += byteLength(character);
    if (bytes > mostBytes) break;
    kept += character;
  }
  // An escape is kept whole or not at all.
  return kept.replace(/%(?:u[0-9A-F]{0,3}|[0-9A-F]?)$/, '') + mark;
}

/** The same for the name of a file, which keeps its ending. */
export function shortenFile(encoded: string): string {
  const dot = encoded.lastIndexOf('.');
  const ending = dot > 0 && encoded.length - dot <= LONGEST_ENDING ? encoded.slice(dot) : '';
  const stem = encoded.slice(0, encoded.length - ending.length);
  return shortenName(stem, MOST_BYTES - byteLength(ending)) + ending;
}

/** A few characters that stand for a text of any length. */
export const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);

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
