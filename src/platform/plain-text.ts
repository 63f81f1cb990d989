/**
 * Characters that show nothing and change how the rest shows: control characters of both sets (the
 * second holds U+009B, which terminals take for ESC [), and those that turn the direction of text.
 * Line breaks and tabs stay.
 */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** What JSON leaves as it is although a terminal acts on it. */
const RAW_IN_JSON = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** JSON on one line, with every control character in escaped form. */
export const toPlainJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    RAW_IN_JSON,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The text without control characters, except line breaks and tabs. */
export const withoutControls = (text: string): string => text.replace(CONTROLS, '');
