/** Words that say nothing about a subject. */
const COMMON = new Set(
  `a about after all also an and any are as at be because been before being between both but by
can could did do does each for from had has have how if in into is it its may more most must no not
of on one only or other our out over shall should so some such than that the their them then there
these they this those to under up very was we were what when where which while who will with would
you your`.split(/\s+/),
);

/** Longer runs of letters are data, and PostgreSQL takes no longer ones into a tsvector. */
const LONGEST = 100;

/** The words of a text that carry its subject, in lower case and without their plural. */
export function subjectWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}[\p{N}.,:]*\p{N}|\p{N}/gu) ?? [];
  return words.filter((word) => word.length <= LONGEST && !COMMON.has(word)).map(withoutEnding);
}

function withoutEnding(word: string): string {
  if (word.length > 5 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && /(?:ss|us|is)$/.test(word)) return word;
  return word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word;
}
