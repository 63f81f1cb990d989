/**
 * Control characters but tab and line breaks; C1 is among them, since U+009B begins an escape. By code
 * units: `\p{Cc}` took a tenth of the time in which a debate's prompts are exported.
 */
const CONTROL = /[^\t\n\r\x20-\x7e\xa0-\uffff]/g;
const HIGH_SURROGATE_AT_END = /[\ud800-\udbff]$/;

/**
 * A text that every later step can take: PostgreSQL refuses NUL and half a surrogate pair, and a
 * terminal obeys control characters. They are removed; half a pair becomes U+FFFD.
 */
export const cleanText = (text: string): string => text.replace(CONTROL, '').toWellFormed();

/** Cleans a text that comes in pieces, where a surrogate pair may be split between two. */
type TextCleaner = { push(piece: string): string; flush(): string };

export function createTextCleaner(): TextCleaner {
  let half = '';
  return {
    push(piece) {
      const text = half + piece;
      half = HIGH_SURROGATE_AT_END.exec(text)?.[0] ?? '';
      return cleanText(text.slice(0, text.length - half.length));
    },
    flush() {
      const rest = half;
      half = '';
      return cleanText(rest);
    },
  };
}

/** The same value with every text in it cleaned, as `jsonb` can hold it. */
export const cleanJson = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value ?? null, cleanPart)) as T;

const cleanPart = (_key: string, part: unknown): unknown =>
  typeof part === 'string' ? cleanText(part) : part;

/**
 * What shows nothing and changes how the rest shows: carriage returns and control characters, and
 * those that turn the direction of text. Line breaks and tabs stay.
 */
const MISLEADING = /[^\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\uffff]/g;

/** The text as it is shown: without characters that a terminal or a reader would be misled by. */
export const withoutControls = (text: string): string => text.replace(MISLEADING, '');

/**
 * A name as one line: a line break in the name of a file would pass for a row of its own in a list, and
 * signs of direction would show it in another order than it is read. Ordinary names stay as they are.
 */
export const toLine = (name: string): string =>
  withoutControls(name.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')).replace(
    /[\u200e\u200f\u061c]/g,
    '',
  );

/** What JSON leaves as it is although a terminal acts on it. */
const RAW_IN_JSON = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** JSON on one line, with every control character in escaped form. */
export const toPlainJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    RAW_IN_JSON,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
