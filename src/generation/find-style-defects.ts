import { countNoun } from '../text/count-noun.ts';
import { measureStyle } from '../text/measure-style.ts';

/** Prompts ask for 12 to 22 words a sentence on average; what is this far outside is told. */
const SHORTEST = 9;
const LONGEST = 28;
/** Questions, greetings and answers in short hold no verb either. */
const MOST_FRAGMENTS = 0.25;

/** What is wrong with the sentences of an answer: too short, too long, or none. */
export function findStyleDefects(text: string): string[] {
  const style = measureStyle(text);
  if (style === null) return [];
  const { averageWords, fragments, sentences } = style;
  const average = countNoun(Math.round(averageWords), 'word');
  const share = Math.round((fragments ?? 0) * 100);
  return [
    ...(averageWords < SHORTEST || averageWords > LONGEST
      ? [
          `The ${sentences} sentences of the document have ${average} on average; 12 to 22 were asked for. ${averageWords < SHORTEST ? 'Join clipped notes into full sentences' : 'Split long sentences'}, without making the document longer.`,
        ]
      : []),
    ...(fragments !== null && fragments > MOST_FRAGMENTS
      ? [
          `About ${share} % of the document's ${sentences} sentences have no verb. Write full sentences with a subject and a verb, and leave out what has no room as a sentence.`,
        ]
      : []),
  ];
}
