/** Takes from a text what would end the block of a prompt that holds it, or open one of its own. */
export type DataWriter = (text: string) => string;

const OPEN = '(?:[<\\uff1c\\ufe64]|&(?:lt|#0{0,6}60|#x0{0,6}3c);?)';
const SLASH = '(?:[/\\uff0f]|&(?:sol|#0{0,6}47|#x0{0,6}2f);?)';
/** Blanks and signs that show nothing; bounded, so that a search takes time in proportion. */
/** Signs that show nothing: format characters, variation selectors, fillers. */
const INVISIBLE = '\\p{Cf}\\p{Default_Ignorable_Code_Point}';
const GAP = `[\\s${INVISIBLE}]{0,64}`;
const FULL_WIDTH = 0xff01 - 0x21;

/**
 * What makes texts of others safe in blocks with these tags: the sign that opens a tag becomes another
 * one in every form in which a model may read it as a delimiter: with blanks, in any case, as an
 * entity, in full width, and with invisible signs between its letters. Nothing depends on chance, so
 * that prompts stay the same to the byte for a provider's cache.
 */
export function dataWriter(tags: readonly string[]): DataWriter {
  const names = tags
    .map((tag) => Array.from(tag, letterPattern).join(`[${INVISIBLE}]{0,8}`))
    .join('|');
  const pattern = new RegExp(
    `${OPEN}(?=${GAP}(?:${SLASH}${GAP})?(?:${names})(?![\\p{L}\\p{N}_]))`,
    'giu',
  );
  return (text) => text.replace(pattern, '\u2039');
}

const letterPattern = (letter: string): string =>
  `[${letter}${String.fromCodePoint(letter.codePointAt(0)! + FULL_WIDTH)}]`;

/** A text as the value of an attribute: on one line, and without what ends it or its tag. */
export const asAttribute = (text: string): string =>
  text.replace(/["<>\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu, ' ');
