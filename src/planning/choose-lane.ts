import { isRecord } from '../recipe/json-schema.ts';
import type { Convergence } from '../recipe/types.ts';
import type { Lane } from './types.ts';

/** One lane's blind ranking of the rival documents; a lane that is left out ranks last. */
export type Ballot = {
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

export type LaneChoice = {
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

/** The lane that the debate converges on. Without any ranking it is the first participant. */
export function chooseLane(lanes: readonly Lane[], ballots: readonly Ballot[]): LaneChoice {
  const ordered = lanes.toSorted((a, b) => a.ordinal - b.ordinal).map((lane) => lane.id);
  const rankings = ballots
    .map((ballot) => [...new Set(ballot.ranking)].filter((laneId) => ordered.includes(laneId)))
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
  const reason =
    rankings.length === 0 ? 'nobody ranked; the first participant' : 'the last standing';
  return finish(standing[0] ?? '', rounds, points, reason);
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

/** The label of the n-th rival in a blind prompt: A, B, … Z, AA. */
export function optionLabel(index: number): string {
  const letter = String.fromCodePoint(65 + (index % 26));
  return index < 26 ? letter : optionLabel(Math.floor(index / 26) - 1) + letter;
}

/**
 * Reads the ranking out of a ballot document. `laneIds` are the rivals in the order of their
 * labels. A model may write `B`, `Option B` or `plan b`; what names no rival is left out.
 */
export function readRanking(
  convergence: Convergence,
  content: unknown,
  laneIds: readonly string[],
): string[] {
  let list: unknown = content;
  for (const part of convergence.rankings.split('.')) {
    list = isRecord(list) ? list[part] : undefined;
  }
  const labels = new Map(laneIds.map((laneId, at) => [optionLabel(at), laneId]));
  return (Array.isArray(list) ? list : [])
    .filter(isRecord)
    .map((item, at) => ({
      laneId: labels.get(readLabel(item[convergence.option], labels)),
      rank: readRank(item[convergence.rank], at),
    }))
    .toSorted((a, b) => a.rank - b.rank)
    .flatMap(({ laneId }) => laneId ?? []);
}

/** Capitals win over a word that merely looks like a label. */
function readLabel(value: unknown, labels: ReadonlyMap<string, string>): string {
  const text = String(value);
  const known = (words: readonly string[]): string | undefined =>
    words.map((word) => word.toUpperCase()).find((word) => labels.has(word));
  return known(text.match(/\b[A-Z]+\b/g) ?? []) ?? known(text.match(/\b[a-z]+\b/gi) ?? []) ?? '';
}

function readRank(value: unknown, position: number): number {
  const rank = typeof value === 'string' ? Number.parseFloat(value.replace(/^\D+/, '')) : value;
  return typeof rank === 'number' && Number.isFinite(rank) ? rank : position + 1;
}
