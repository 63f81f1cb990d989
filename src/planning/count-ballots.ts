import type { OwnVotes } from '../recipe/types.ts';
import type { Lane } from './types.ts';

/** One lane's blind ranking of the rival documents; a lane that is left out ranks last. */
type Ballot = {
  readonly voterLaneId: string;
  /** Lane ids, the best first. */
  readonly ranking: readonly string[];
};

export type CountingRound = {
  /** First choices among those still standing, by lane id. */
  readonly votes: Readonly<Record<string, number>>;
  readonly eliminated: string | null;
  /** What decided who was eliminated, where several had the fewest votes. */
  readonly tieBrokenBy: 'points' | 'ordinal' | null;
};

type LaneChoice = {
  readonly laneId: string;
  readonly rounds: readonly CountingRound[];
  /** Points by lane id: n − 1 for a first place down to 0 for the last, summed over ballots. */
  readonly points: Readonly<Record<string, number>>;
  /** For people: how the choice came about, and the rule in one sentence. */
  readonly reason: string;
  readonly rule: string;
};

const CHOICE_RULE =
  'Instant runoff: a plan with more than half of the first choices is chosen, else the one with ' +
  'the fewest is struck out; among equals the one with fewer points (n − 1 for a first place, 0 ' +
  'for the last), then the one of the later participant.';

/**
 * The lane that the debate converges on. Without any ranking it is the first participant. Where own
 * votes are ignored, a voter's own lane leaves its ranking and the lanes below it move up.
 */
export function countBallots(
  lanes: readonly Lane[],
  ballots: readonly Ballot[],
  ownVotes: OwnVotes = 'count',
): LaneChoice {
  const ordered = lanes.toSorted((a, b) => a.ordinal - b.ordinal).map((lane) => lane.id);
  const counts = ({ voterLaneId }: Ballot, laneId: string): boolean =>
    ordered.includes(laneId) && (ownVotes === 'count' || laneId !== voterLaneId);
  const rankings = ballots
    .map((ballot) => [...new Set(ballot.ranking)].filter((laneId) => counts(ballot, laneId)))
    .filter((ranking) => ranking.length > 0);
  const points = countPoints(ordered, rankings);
  const rounds: CountingRound[] = [];
  let standing = ordered;
  while (standing.length > 1 && rankings.length > 0) {
    const votes = countVotes(standing, rankings);
    const winner = standing.find((laneId) => (votes[laneId] ?? 0) * 2 > rankings.length);
    if (winner !== undefined) {
      rounds.push({ votes, eliminated: null, tieBrokenBy: null });
      return finish(winner, rounds, points, `${votes[winner]} of ${rankings.length} first choices`);
    }
    const { laneId, tieBrokenBy } = findWeakest(standing, votes, points);
    rounds.push({ votes, eliminated: laneId, tieBrokenBy });
    standing = standing.filter((one) => one !== laneId);
  }
  return finish(standing[0] ?? '', rounds, points, reasonOf(rounds.at(-1)));
}

/** Why the remaining lane is chosen; `last` is undefined where no ballot was counted. */
function reasonOf(last: CountingRound | undefined): string {
  if (last === undefined) return 'no ranking was counted; the first participant stands';
  if (last.tieBrokenBy === 'ordinal') {
    return 'equal first choices and equal points; the earlier participant stands';
  }
  if (last.tieBrokenBy === 'points') return 'equal first choices, more points';
  return 'the last one standing';
}

const finish = (
  laneId: string,
  rounds: readonly CountingRound[],
  points: Readonly<Record<string, number>>,
  reason: string,
): LaneChoice => ({ laneId, rounds, points, reason, rule: CHOICE_RULE });

function countVotes(
  standing: readonly string[],
  rankings: readonly (readonly string[])[],
): Record<string, number> {
  const votes: Record<string, number> = Object.fromEntries(standing.map((laneId) => [laneId, 0]));
  for (const ranking of rankings) {
    const first = ranking.find((laneId) => standing.includes(laneId));
    if (first !== undefined) votes[first] = (votes[first] ?? 0) + 1;
  }
  return votes;
}

function countPoints(
  laneIds: readonly string[],
  rankings: readonly (readonly string[])[],
): Record<string, number> {
  const points: Record<string, number> = Object.fromEntries(laneIds.map((laneId) => [laneId, 0]));
  for (const ranking of rankings) {
    for (const [place, laneId] of ranking.entries()) {
      points[laneId] = (points[laneId] ?? 0) + laneIds.length - 1 - place;
    }
  }
  return points;
}

function findWeakest(
  standing: readonly string[],
  votes: Readonly<Record<string, number>>,
  points: Readonly<Record<string, number>>,
): { readonly laneId: string; readonly tieBrokenBy: CountingRound['tieBrokenBy'] } {
  const fewest = Math.min(...standing.map((laneId) => votes[laneId] ?? 0));
  const last = standing.filter((laneId) => (votes[laneId] ?? 0) === fewest);
  if (last.length === 1) return { laneId: last[0]!, tieBrokenBy: null };
  const lowest = Math.min(...last.map((laneId) => points[laneId] ?? 0));
  const poorest = last.filter((laneId) => (points[laneId] ?? 0) === lowest);
  const tieBrokenBy = poorest.length === 1 ? 'points' : 'ordinal';
  return { laneId: poorest.at(-1)!, tieBrokenBy };
}
