import type { Transaction } from '../db/database.ts';
import { DialecticError } from '../errors/errors.ts';
import { type CountingRound, countBallots } from '../planning/count-ballots.ts';
import { rivalsByLabel } from '../planning/deal-labels.ts';
import { readBallot } from '../planning/read-ballot.ts';
import type { PlannedInput } from '../planning/types.ts';
import type { Convergence, OwnVotes } from '../recipe/types.ts';
import type { SessionView } from './read.ts';

/** One lane's ballot as it was read; lanes are ids. */
type LaneVote = {
  readonly voter: string;
  /** The lanes by the labels that their documents bore on this ballot: A, B, …. */
  readonly labels: readonly string[];
  /** The best first; empty where the ballot could not be read. */
  readonly ranking: readonly string[];
  /** Why it does not count; null where it does. */
  readonly problem: string | null;
};

/** How the lanes chose, as it is kept with the session; lanes are ids. */
export type Vote = {
  readonly chosen: string;
  readonly ownVotes: OwnVotes;
  readonly candidates: readonly string[];
  readonly ballots: readonly LaneVote[];
  readonly rounds: readonly CountingRound[];
  readonly points: Readonly<Record<string, number>>;
  readonly reason: string;
  readonly rule: string;
};

/**
 * Counts the lanes' blind rankings and notes whose documents the results follow. Where nothing can
 * be counted it is the first lane, and `chosen_by` says so. A person's choice stays.
 */
export async function converge(tx: Transaction, session: SessionView): Promise<void> {
  const vote = await holdVote(tx, session);
  await tx.query('update sessions set vote = $2 where id = $1', [
    session.id,
    vote && JSON.stringify(vote),
  ]);
  if (session.chosenBy === 'person') return;
  if (vote?.ballots.some(({ problem }) => problem === null)) {
    return saveChoice(tx, session, vote.chosen, 'ballots');
  }
  const { laneId } = countBallots(await candidateLanes(tx, session), []);
  await saveChoice(tx, session, laneId, 'default');
}

/** Null where the process holds no vote or there are no two rivals. */
async function holdVote(tx: Transaction, session: SessionView): Promise<Vote | null> {
  const { convergence } = session.process;
  const candidates = await candidateLanes(tx, session);
  if (!convergence || candidates.length < 2) return null;
  const ownVotes = convergence.ownVotes ?? 'count';
  const ballots = await readBallots(tx, session, convergence);
  const countable = ballots.filter(({ problem }) => problem === null);
  const { laneId, ...count } = countBallots(
    candidates,
    countable.map(({ voter, ranking }) => ({ voterLaneId: voter, ranking })),
    ownVotes,
  );
  return {
    chosen: laneId,
    ownVotes,
    candidates: candidates.map((lane) => lane.id),
    ballots,
    ...count,
  };
}

async function readBallots(
  tx: Transaction,
  session: SessionView,
  convergence: Convergence,
): Promise<LaneVote[]> {
  const { stage, documentKey } = convergence.ballots;
  const rows = await tx.query<{ lane_id: string; content: unknown; inputs: PlannedInput[] }>(
    `select lane_id, content, inputs from documents
     where session_id = $1 and iteration = $2 and stage_key = $3
       and document_key = $4 and not superseded`,
    [session.id, session.iteration, stage, documentKey],
  );
  const owners = await candidateOwners(tx, session, convergence);
  const byLane = new Map(rows.map((row) => [row.lane_id, row]));
  return session.lanes.flatMap(({ id }): LaneVote[] => {
    const row = byLane.get(id);
    if (!row) return [];
    const labels = rivalsByLabel(session.process, row.inputs).map((rival) => owners.get(rival)!);
    return [{ voter: id, labels, ...readVote(convergence, row.content, labels) }];
  });
}

function readVote(convergence: Convergence, content: unknown, labels: readonly string[]) {
  if (labels.length < 2) return { ranking: [], problem: 'It was shown fewer than two rivals.' };
  const { ranking, problems } = readBallot(convergence, content, labels);
  const problem = problems.map(({ path, message }) => `${path} ${message}`).join(' ');
  return { ranking, problem: problem || null };
}

/** Which lane wrote each rival document. */
async function candidateOwners(
  tx: Transaction,
  session: SessionView,
  { candidates }: Convergence,
): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; lane_id: string }>(
    `select id, lane_id from documents where session_id = $1
       and iteration = $2 and stage_key = $3 and document_key = $4`,
    [session.id, session.iteration, candidates.stage, candidates.documentKey],
  );
  return new Map(rows.map((row) => [row.id, row.lane_id]));
}

async function candidateLanes(tx: Transaction, session: SessionView) {
  const { convergence } = session.process;
  if (!convergence) return session.lanes;
  const owners = new Set((await candidateOwners(tx, session, convergence)).values());
  const present = session.lanes.filter((lane) => owners.has(lane.id));
  return present.length > 0 ? present : session.lanes;
}

/** Makes the results follow the lane that a person names, whatever the ballots say. */
export async function chooseLaneByHand(
  tx: Transaction,
  session: SessionView,
  ordinal: number,
): Promise<void> {
  const lane = session.lanes.find((one) => one.ordinal === ordinal);
  if (!lane) {
    const there = session.lanes.map((one) => `${one.ordinal} (${one.model})`).join(', ');
    throw new DialecticError('usage_invalid', `There is no lane ${ordinal}; there are ${there}.`);
  }
  await saveChoice(tx, session, lane.id, 'person');
}

async function saveChoice(
  tx: Transaction,
  session: SessionView,
  laneId: string,
  by: NonNullable<SessionView['chosenBy']>,
): Promise<void> {
  // A person may have chosen since the session was read; only a person changes that.
  await tx.query(
    `update sessions set chosen_lane_id = $2, chosen_by = $3 where id = $1
       and ($3 = 'person' or chosen_by is distinct from 'person')`,
    [session.id, laneId, by],
  );
}
