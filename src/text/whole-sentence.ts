const LONGEST = 240;
/** Words that nothing may follow, and numbers before a noun that was cut off. */
const LOOSE = new Set(
  `a an the and or but of to in on at by for from with within into as is are was be has have must
  should can will may that which who than our its their one two three about not`.split(/\s+/),
);

/** A whole sentence: it begins with a capital and ends with a stop, a long one behind a clause. */
export function finishSentence(sentence: string): string {
  const isLong = sentence.length > LONGEST;
  const text = dropOpen(isLong ? cutClause(sentence) : sentence).replace(/^\p{Ll}/u, (letter) =>
    letter.toUpperCase(),
  );
  return /[.!?…。！？]["”)\]]*$/.test(text) ? text : `${text}.`;
}

function cutClause(sentence: string): string {
  const start = sentence.slice(0, LONGEST).toWellFormed();
  const clause = /^.{60,}(?=[,;:] |\s[–-]\s)/su.exec(start)?.[0];
  return clause ?? dropLoose(start.split(' ').slice(0, -1));
}

/** Without the spaces and marks at the end that announce more. */
function dropOpen(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\n:;,–-'.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function dropLoose(words: readonly string[]): string {
  const last = words.findLastIndex((word) => !LOOSE.has(word.toLowerCase()) && !/^\d+$/.test(word));
  return words.slice(0, last + 1).join(' ');
}

/** The first words of a sentence, at most so many, as far as they can stand alone. */
export function nameAfter(sentence: string, most: number): string {
  const words = sentence.replace(/[.!?]$/, '').split(' ');
  if (words.length <= most) return words.join(' ');
  const start = words.slice(0, most);
  return /^.{20,}?(?=[,;:] )/u.exec(start.join(' '))?.[0] ?? dropLoose(start);
}
