import { optionLabel } from '../planning/deal-labels.ts';
import type { SessionView } from './read.ts';
import { laneOf } from './read.ts';

/** The vote for people and programs: lanes by their numbers. */
export type VoteView = {
  readonly cast: number;
  readonly read: number;
  readonly counted: number;
  readonly ownVotes: string;
  readonly ballots: readonly {
    readonly lane: number;
    readonly model: string;
    /** Which lane's document bore which label on this ballot. */
    readonly labels: Readonly<Record<string, number>>;
    /** The best first; empty where the ballot could not be read. */
    readonly ranking: readonly number[];
    /** The place, from 1, that the lane gave its own document. */
    readonly ownPlace: number | null;
    readonly counted: boolean;
    readonly problem: string | null;
  }[];
  /** Lanes that cast no ballot. */
  readonly absent: readonly number[];
  readonly rounds: readonly {
    readonly votes: Readonly<Record<string, number>>;
    readonly eliminated: number | null;
    readonly tieBrokenBy: string | null;
  }[];
  readonly points: Readonly<Record<string, number>>;
  /** The lane that the count names; the first where no ballot counts. */
  readonly lane: number;
  readonly reason: string;
  readonly rule: string;
};

/** The vote of the session's pass with the numbers and models of its lanes. */
export function viewVote(session: SessionView): VoteView | null {
  const { vote } = session;
  if (vote === null) return null;
  const numberOf = (id: string): number => laneOf(session, id).ordinal;
  const byNumber = (counts: Readonly<Record<string, number>>): Record<string, number> =>
    Object.fromEntries(Object.entries(counts).map(([id, count]) => [numberOf(id), count]));
  const ballots = vote.ballots.map(({ voter, labels, ranking, problem }) => ({
    lane: numberOf(voter),
    model: laneOf(session, voter).model,
    labels: Object.fromEntries(labels.map((id, at) => [optionLabel(at), numberOf(id)])),
    ranking: ranking.map(numberOf),
    ownPlace: ranking.includes(voter) ? ranking.indexOf(voter) + 1 : null,
    counted: problem === null,
    problem,
  }));
  const voters = new Set(vote.ballots.map(({ voter }) => voter));
  const counted = ballots.filter((ballot) => ballot.counted).length;
  return {
    cast: ballots.length,
    read: ballots.filter(({ ranking }) => ranking.length > 0).length,
    counted,
    ownVotes: vote.ownVotes,
    ballots,
    absent: vote.candidates.filter((id) => !voters.has(id)).map(numberOf),
    rounds: vote.rounds.map(({ votes, eliminated, tieBrokenBy }) => ({
      votes: byNumber(votes),
      eliminated: eliminated === null ? null : numberOf(eliminated),
      tieBrokenBy,
    })),
    points: byNumber(vote.points),
    lane: numberOf(vote.chosen),
    reason: vote.reason,
    rule: vote.rule,
  };
}
