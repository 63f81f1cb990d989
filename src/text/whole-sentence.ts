const LONGEST = 240;
/** Words that nothing may follow, and numbers before a noun that was cut off. */
const LOOSE = new RegExp(
  `(?: (?:${'an? the and or but of to in on at by for from with within into as is are was be has have'
    .concat(
      ' must should can will may that which who than our its their \\d+ one two three about not',
    )
    .replaceAll(' ', '|')}))+$`,
  'iu',
);

/** A whole sentence: it begins with a capital and ends with a stop, a long one behind a clause. */
export function finishSentence(sentence: string): string {
  const isLong = sentence.length > LONGEST;
  const bare = (isLong ? cutClause(sentence) : sentence).replace(/[\s:;,–-]+$/, '');
  const text = bare.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  return /[.!?…。！？]["”)\]]*$/.test(text) ? text : `${text}.`;
}

function cutClause(sentence: string): string {
  const start = sentence.slice(0, LONGEST).toWellFormed();
  const clause = /^.{60,}(?=[,;:] |\s[–-]\s)/su.exec(start)?.[0];
  return clause ?? start.replace(/ \S*$/, '').replace(LOOSE, '');
}

/** The first words of a sentence, at most so many, as far as they can stand alone. */
export function nameAfter(sentence: string, most: number): string {
  const words = sentence.replace(/[.!?]$/, '').split(' ');
  if (words.length <= most) return words.join(' ');
  const start = words.slice(0, most).join(' ');
  return /^.{20,}?(?=[,;:] )/u.exec(start)?.[0] ?? start.replace(LOOSE, '');
}
