import type { RunResult } from '../session/summary.ts';

const MOST_DECISIONS = 3;
const MOST_DISAGREEMENTS = 5;
const MOST_CHARACTERS = 150;

/**
 * What a run came to: the decisions in three lines, the ballots, whom the results follow, and what was
 * not agreed on in one line each. Empty where the run has made none of it.
 */
export function describeOutcome({
  outcome: { decided, disagreements },
  vote,
  chosen,
}: Pick<RunResult, 'outcome' | 'vote' | 'chosen'>): string[] {
  const ballots = (vote?.ballots ?? []).map(({ lane, ranking, problem }) =>
    problem === null
      ? `  lane ${lane} ranks lane ${ranking.join(', then lane ')}`
      : `  lane ${lane}: the ballot could not be read (${problem})`,
  );
  return [
    ...listUnder('Decided:', decided, MOST_DECISIONS),
    ...(ballots.length > 0 ? ['Blind ballots:', ...ballots] : []),
    ...(chosen ? [chosen.text] : []),
    ...listUnder('Not agreed on:', disagreements, MOST_DISAGREEMENTS),
  ];
}

function listUnder(head: string, texts: readonly string[], most: number): string[] {
  if (texts.length === 0) return [];
  const rest = texts.length - most;
  return [
    head,
    ...texts.slice(0, most).map((text) => `  ${shorten(text)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}

/** The first sentence, cut behind a word where it is long. */
function shorten(text: string): string {
  const [first = ''] = text.split(/(?<=[.!?]) (?=\p{Lu})/u);
  if (first.length <= MOST_CHARACTERS) return first;
  const cut = first.slice(0, MOST_CHARACTERS);
  return `${cut.slice(0, cut.lastIndexOf(' ') + 1 || undefined).trimEnd()} …`;
}
