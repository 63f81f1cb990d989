import { cutAt } from './cut.ts';

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const words = new Intl.Segmenter('en', { granularity: 'word' });

/** Scripts that set no blanks between words; only there is the slow word segmenter needed. */
const UNSPACED = new RegExp(
  `[${['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
    .map((script) => `\\p{Script=${script}}`)
    .join('')}]`,
  'u',
);
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu;
/** A full stop behind these ends no sentence. */
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|nr|dr|mr|mrs|ms|ca|z\.\s?b|bzw)\.\s*$/i;
const MARKERS_FIRST = /^(?:\[S\d[^\]\n]{0,60}\]\s*)+/u;
/** Text without any stop is cut here, so that nothing that is quoted grows without end. */
const LONGEST = 600;

/** Splits running text; citation markers stay with the sentence that they follow. */
export function splitSentences(text: string): string[] {
  const found: string[] = [];
  let open = '';
  for (const { segment } of sentences.segment(text)) {
    open += segment;
    if (ABBREVIATION.test(open) && open.length < LONGEST) continue;
    push(found, open);
    open = '';
  }
  push(found, open);
  return found;
}

function push(found: string[], segment: string): void {
  let text = segment.replace(/\s+/g, ' ').trim();
  const markers = MARKERS_FIRST.exec(text)?.[0];
  if (markers && found.length > 0) {
    found[found.length - 1] += ` ${markers.trim()}`;
    text = text.slice(markers.length);
  }
  while (text.length > LONGEST) {
    const part = cutAt(text, LONGEST);
    found.push(part);
    text = text.slice(part.length);
  }
  if (/[\p{L}\p{N}]/u.test(text)) found.push(text);
}

const STOP = new Set(
  `a about above after all also an and any are as at be because been but by can could do does each
  for from had has have he her his how i if in into is it its just like may me might more most must
  my no nor not of off on one only or other our out over own per same shall she should so some such
  than that the their them then there these they this those through to too under until up upon us
  very via want was we were what when where which while who whom why will with within without would
  you your der die das und ist ein eine mit für von zu den im des dem nicht auf sich auch wir sie
  le la les et de des du un une pour que qui dans sur avec est en el los las y para con por una`
    .split(/\s+/)
    .filter(Boolean),
);

/** The words that carry meaning, lower-cased and cut to a common stem. */
export function toTerms(text: string): string[] {
  const found: string[] = [];
  for (const word of splitWords(text)) {
    const lower = word.toLowerCase();
    if (STOP.has(lower) || (lower.length < 2 && !UNSPACED.test(lower))) continue;
    found.push(stem(lower));
  }
  return found;
}

function splitWords(text: string): string[] {
  if (!UNSPACED.test(text)) return text.match(WORD) ?? [];
  const found: string[] = [];
  for (const { segment, isWordLike } of words.segment(text)) if (isWordLike) found.push(segment);
  return found;
}

/** Crude on purpose: equal stems only have to meet each other. */
function stem(word: string): string {
  if (word.length < 5 || !/^[a-z]+$/.test(word)) return word;
  const short = word
    .replace(/(?:ations?|ments?|ness|ings?|ities|ity)$/, '')
    .replace(/ies$/, 'y')
    .replace(/(?:es|ed|s|e)$/, '');
  return short.length < 3 ? word : short;
}
