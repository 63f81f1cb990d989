import type { VoteView } from './vote-view.ts';

/** The lane that the results follow and who chose it. */
export type Chosen = { readonly lane: number; readonly model: string; readonly by: string };

/** In one sentence or two: whom the results follow, and by what right. */
export function tellChoice(chosen: Chosen, vote: VoteView | null, laneCount: number): string {
  const who = `The results follow lane ${chosen.lane} (${chosen.model})`;
  if (chosen.by === 'person') {
    const other = vote && vote.counted > 0 && vote.lane !== chosen.lane;
    return `${who}, chosen by a person.${other ? ` The rankings named lane ${vote.lane}.` : ''}`;
  }
  if (vote === null) {
    return laneCount > 1 ? `${who}: there was no vote.` : `${who}.`;
  }
  if (chosen.by === 'default') return `${who} for want of a vote: ${tellWhyNone(vote)}`;
  const tied = vote.reason.startsWith('equal');
  const by = tied ? 'the rankings tie' : "chosen by the participants' rankings";
  return `${who}, ${by}: ${vote.reason}. ${tellCount(vote)}`;
}

function tellWhyNone({ cast }: VoteView): string {
  if (cast === 0) return 'no ballot was cast.';
  return cast === 1
    ? 'the one ballot could not be read.'
    : `none of ${cast} ballots could be read.`;
}

function tellCount({ cast, counted, ballots, absent }: VoteView): string {
  const spoilt = ballots.filter((ballot) => !ballot.counted).map(({ lane }) => lane);
  const left = spoilt.length === 0 ? '' : ` Not counted: lane ${spoilt.join(', ')}.`;
  const silent = absent.length === 0 ? '' : ` No ballot: lane ${absent.join(', ')}.`;
  return `${counted} of ${cast} ballots counted.${left}${silent}`;
}

/** The whole count as Markdown: who voted how, what was left out, every round. */
export function describeVote(vote: VoteView): string[] {
  const rows = vote.ballots.map(({ lane, model, labels, ranking, ownPlace, problem }) => {
    const order = ranking.length > 0 ? ranking.map((one) => `lane ${one}`).join(', ') : 'not read';
    const dealt = Object.entries(labels).map(([label, one]) => `${label} = lane ${one}`);
    const counted = problem === null ? 'yes' : `no: ${inCell(problem)}`;
    return `| ${lane} \`${model}\` | ${dealt.join(', ')} | ${order} | ${ownPlace ?? ''} | ${counted} |`;
  });
  const rounds = vote.rounds.map(({ votes, eliminated, tieBrokenBy }, at) => {
    const tie = tieBrokenBy === null ? '' : ` (a tie, broken by ${TIES[tieBrokenBy]})`;
    const out = eliminated === null ? '' : `; lane ${eliminated} is struck out${tie}`;
    return `- Round ${at + 1}: ${listCounts(votes)}${out}.`;
  });
  const table =
    rows.length === 0
      ? ['No ballot was cast.']
      : [
          '| voting lane | labels on its ballot | its ranking | place of its own | counted |',
          '| --- | --- | --- | --- | --- |',
          ...rows,
        ];
  const own = vote.ownVotes === 'ignore' ? OWN_IGNORED : OWN_COUNTED;
  return [
    ...table,
    '',
    ...rounds,
    ...(rounds.length > 0 ? [`- Points: ${listCounts(vote.points)}.`, ''] : []),
    `${vote.rule} ${own}`,
  ];
}

const TIES: Readonly<Record<string, string>> = {
  points: 'points',
  ordinal: 'the order of the participants',
};
const OWN_COUNTED =
  "A lane's vote for its own document counts; nothing tells it which one that is.";
const OWN_IGNORED = "A lane's own document is taken out of its ranking before the count.";

const listCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([lane, count]) => `lane ${lane}: ${count}`)
    .join(', ');

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
